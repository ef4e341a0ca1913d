use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A version of the Internet Protocol, written as its number: 4 or 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(try_from = "u8", into = "u8")]
pub enum Ip {
    /// IPv4 (RFC 791).
    #[default]
    V4,
    /// IPv6 (RFC 8200).
    V6,
}

impl Ip {
    /// True for IPv4, the default.
    pub fn is_default(&self) -> bool {
        *self == Ip::default()
    }

    /// Bytes of its header, without options and extension headers.
    pub const fn header_bytes(self) -> u32 {
        match self {
            Ip::V4 => 20,
            Ip::V6 => 40,
        }
    }
}

impl TryFrom<u8> for Ip {
    type Error = String;
    fn try_from(number: u8) -> Result<Self, Self::Error> {
        match number {
            4 => Ok(Ip::V4),
            6 => Ok(Ip::V6),
            _ => Err(format!("version {number} of the Internet Protocol: 4 or 6")),
        }
    }
}

impl From<Ip> for u8 {
    fn from(ip: Ip) -> u8 {
        match ip {
            Ip::V4 => 4,
            Ip::V6 => 6,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_its_number() {
        assert_eq!(serde_json::from_str::<Ip>("6").unwrap(), Ip::V6);
        assert_eq!(serde_json::to_string(&Ip::V4).unwrap(), "4");
        let error = serde_json::from_str::<Ip>("5").unwrap_err().to_string();
        assert!(error.contains("version 5 of the Internet Protocol: 4 or 6"), "{error}");
    }
}
