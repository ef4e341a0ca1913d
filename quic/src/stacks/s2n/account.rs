//! What the stack tells in events, as a sender's account.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quic_lines::Sent;
use s2n_quic::connection::Error;
use s2n_quic::provider::event::events::{
    ConnectionClosed, MtuUpdated, PacingRateUpdated, PacketLost, PacketSent, RecoveryMetrics,
};
use s2n_quic::provider::event::{self, ConnectionInfo, ConnectionMeta};

/// The last values of an endpoint's one connection.
#[derive(Debug, Default)]
pub struct Account(Mutex<Values>);

#[derive(Debug, Default)]
struct Values {
    cwnd_bytes: u64,
    in_flight_bytes: u64,
    srtt: Duration,
    rttvar: Duration,
    min_rtt: Duration,
    lost_packets: u64,
    datagram_bytes: u32,
    pacing_rate_bps: Option<u64>,
    closed: Option<Error>,
}

impl Account {
    fn values(&self) -> MutexGuard<'_, Values> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reason of the connection's end; `None` while it lasts.
    pub fn closed(&self) -> Option<Error> {
        self.values().closed
    }

    /// Bytes in flight.
    pub fn in_flight_bytes(&self) -> u64 {
        self.values().in_flight_bytes
    }

    /// The sender's account without the counts of what was sent. RTTs are left out unless they are known.
    pub fn sent(&self, is_rtt_known: bool) -> Sent {
        let values = self.values();
        let micros = |time: Duration| is_rtt_known.then_some(time.as_micros() as u32);
        Sent {
            lost_packets: values.lost_packets,
            datagram_bytes: values.datagram_bytes,
            cwnd_bytes: values.cwnd_bytes,
            srtt_us: micros(values.srtt),
            rttvar_us: micros(values.rttvar),
            min_rtt_us: micros(values.min_rtt),
            bytes_in_flight: Some(values.in_flight_bytes),
            pacing_rate_bps: values.pacing_rate_bps,
            ..Sent::default()
        }
    }
}

/// Writes an endpoint's events into its account.
pub struct Subscriber(pub std::sync::Arc<Account>);

impl event::Subscriber for Subscriber {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo) {}

    fn on_recovery_metrics(&mut self, (): &mut (), _: &ConnectionMeta, event: &RecoveryMetrics<'_>) {
        let mut values = self.0.values();
        values.cwnd_bytes = event.congestion_window.into();
        values.in_flight_bytes = event.bytes_in_flight.into();
        (values.srtt, values.rttvar, values.min_rtt) = (event.smoothed_rtt, event.rtt_variance, event.min_rtt);
    }

    fn on_packet_sent(&mut self, (): &mut (), _: &ConnectionMeta, event: &PacketSent) {
        // Until the stack counts again. This has packets that only acknowledge, too, of which a sender has few.
        self.0.values().in_flight_bytes += event.packet_len as u64;
    }

    fn on_packet_lost(&mut self, (): &mut (), _: &ConnectionMeta, event: &PacketLost<'_>) {
        self.0.values().lost_packets += u64::from(!event.is_mtu_probe);
    }

    fn on_mtu_updated(&mut self, (): &mut (), _: &ConnectionMeta, event: &MtuUpdated) {
        self.0.values().datagram_bytes = event.mtu.into();
    }

    fn on_pacing_rate_updated(&mut self, (): &mut (), _: &ConnectionMeta, event: &PacingRateUpdated) {
        self.0.values().pacing_rate_bps = Some(8 * event.bytes_per_second);
    }

    fn on_connection_closed(&mut self, (): &mut (), _: &ConnectionMeta, event: &ConnectionClosed) {
        self.0.values().closed = Some(event.error);
    }
}
