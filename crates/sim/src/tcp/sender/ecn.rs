//! ECN at the sender (RFC 3168 section 6.1).

use link::Ecn;

use super::Sender;

impl Sender {
    /// The codepoint of a segment with new data, or of one that is sent again (RFC 3168 section 6.1.5: not ECT; DCTCP
    /// marks all, RFC 8257 section 3.5).
    pub(super) fn codepoint(&self, is_new: bool) -> Ecn {
        if self.sk.ecn_flags.ok && (is_new || self.cc.needs_ecn()) { Ecn::Ect0 } else { Ecn::NotEct }
    }

    /// The window is reduced: the receiver must learn it.
    pub(super) fn queue_cwr(&mut self) {
        self.queue_cwr = self.sk.ecn_flags.ok;
    }
}
