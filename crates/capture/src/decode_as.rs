//! Protocols that users state for frames that do not name their own.

use anyhow::{Context, Result, bail};

/// A tunnel over UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Tunnel {
    Vxlan,
    Geneve,
    Gtp,
}

/// Ports of tunnels and link types beside those that are registered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodeAs {
    /// Link types in files, `None` for all, and as what their frames are read.
    links: Vec<(Option<u16>, u16)>,
    /// Ports to which datagrams of tunnels go.
    ports: Vec<(u16, Tunnel)>,
}

impl DecodeAs {
    /// Read `udp:PORT=vxlan`, `=geneve` or `=gtp`, `link=TYPE`, and `link:TYPE=TYPE`; the first that fits a frame holds.
    ///
    /// # Errors
    /// One of them has another form.
    pub fn parse(all: &[String]) -> Result<DecodeAs> {
        let mut found = DecodeAs::default();
        for one in all {
            found.add(one).with_context(|| one.clone())?;
        }
        Ok(found)
    }

    fn add(&mut self, rule: &str) -> Result<()> {
        let Some((what, meaning)) = rule.split_once('=') else { bail!("it lacks =, as in udp:4790=vxlan") };
        let link = |text: &str| {
            text.parse::<u16>().with_context(|| format!("{text} is not the number of a link type, 0 to 65535"))
        };
        match what.split_once(':') {
            None if what == "link" => self.links.push((None, link(meaning)?)),
            Some(("link", from)) => self.links.push((Some(link(from)?), link(meaning)?)),
            Some(("udp", port)) => {
                let port = port.parse::<u16>().with_context(|| format!("{port} is not a port, 0 to 65535"))?;
                let tunnel = match meaning {
                    "vxlan" => Tunnel::Vxlan,
                    "geneve" => Tunnel::Geneve,
                    "gtp" => Tunnel::Gtp,
                    _ => bail!("{meaning} is not vxlan, geneve or gtp"),
                };
                self.ports.push((port, tunnel));
            }
            _ => bail!("{what} is not udp:PORT, link or link:TYPE"),
        }
        Ok(())
    }

    /// The link type as which a frame is read.
    #[inline]
    pub(crate) fn link(&self, link: u16) -> u16 {
        if self.links.is_empty() {
            return link;
        }
        let fits = |(from, _): &&(Option<u16>, u16)| from.is_none_or(|from| from == link);
        self.links.iter().find(fits).map_or(link, |&(_, to)| to)
    }

    /// The tunnel of datagrams to a port.
    pub(crate) fn tunnel(&self, port: u16) -> Option<Tunnel> {
        let said = self.ports.iter().find(|&&(said, _)| said == port).map(|&(_, tunnel)| tunnel);
        said.or(match port {
            4789 | 8472 => Some(Tunnel::Vxlan),
            6081 => Some(Tunnel::Geneve),
            2152 => Some(Tunnel::Gtp),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<DecodeAs> {
        DecodeAs::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_said_comes_before_what_is_registered() {
        let said = parse(&["udp:4789=gtp", "udp:7=vxlan", "link:147=1", "link=101"]).expect("all are well-formed");
        assert_eq!(said.tunnel(4789), Some(Tunnel::Gtp));
        assert_eq!(said.tunnel(7), Some(Tunnel::Vxlan));
        assert_eq!((said.tunnel(6081), said.tunnel(80)), (Some(Tunnel::Geneve), None));
        assert_eq!((said.link(147), said.link(1)), (1, 101));
        assert_eq!(DecodeAs::default().link(147), 147);
    }

    #[test]
    fn other_forms_are_refused_with_the_reason() {
        for (word, why) in [
            ("udp:4790", "lacks ="),
            ("udp:70000=vxlan", "70000 is not a port"),
            ("udp:4790=vlan", "vlan is not vxlan"),
            ("link=ethernet", "ethernet is not the number of a link type"),
            ("tcp:80=http", "tcp:80 is not udp:PORT"),
        ] {
            let error = parse(&[word]).expect_err(word);
            let said = format!("{error:#}");
            assert!(said.starts_with(word) && said.contains(why), "{said}");
        }
    }
}
