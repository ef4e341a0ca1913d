// The work of benches/simulator/ns3.py in ns-3: senders -- router == bottleneck == router -- receivers, a bulk flow per pair.
// Prints a JSON object: CPU seconds of the simulation alone, data packets delivered, goodput, Jain's index.
// Nothing is traced: the figures are counters that ns-3 keeps anyway. Built by ns3.py; needs Debian's libns3-dev (3.37).

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

constexpr uint32_t kSegmentBytes = 1448;
constexpr double kRateBps = 100e6;
constexpr double kRttS = 0.05;

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) { return t.tv_sec + t.tv_usec * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// TCP as Linux has it: SACK, timestamps, an initial window of 10, an ACK for every second segment, windows that don't limit.
void Configure(const std::string& cc) {
  const uint32_t buffer = 8u << 20;
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + cc));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegmentBytes));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
  Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
  Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
}

// A link with a drop-tail queue of so many packets.
PointToPointHelper LinkOf(double rate_bps, double delay_s, uint32_t packets) {
  PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate_bps))));
  link.SetChannelAttribute("Delay", TimeValue(Seconds(delay_s)));
  link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(packets) + "p"));
  return link;
}

}  // namespace

int main(int argc, char* argv[]) {
  std::string cc = "TcpCubic";
  uint32_t flows = 10;
  double time = 60;
  double spacing = 0.1;
  CommandLine command(__FILE__);
  command.AddValue("cc", "TcpLinuxReno, TcpCubic or TcpBbr", cc);
  command.AddValue("flows", "how many", flows);
  command.AddValue("time", "simulated, s", time);
  command.AddValue("spacing", "from one flow's start to the next, s", spacing);
  command.Parse(argc, argv);
  Configure(cc);

  NodeContainer routers, left, right;
  routers.Create(2);
  left.Create(flows);
  right.Create(flows);
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.InstallAll();

  // A twentieth of the RTT on each access link's way, the rest at the bottleneck.
  const double access_s = kRttS / 20;
  const auto buffer = static_cast<uint32_t>(std::max(2.0, kRateBps / 8 * kRttS / 1500));
  PointToPointHelper access = LinkOf(10e9, access_s, 1000000);
  PointToPointHelper bottleneck = LinkOf(kRateBps, kRttS / 2 - 2 * access_s, buffer);
  NetDeviceContainer middle = bottleneck.Install(routers);
  NetDeviceContainer devices = middle;
  Ipv4AddressHelper addresses;
  addresses.SetBase("10.0.0.0", "255.255.255.0");
  addresses.Assign(middle);
  Ipv4InterfaceContainer receivers;
  for (uint32_t i = 0; i < flows; i++) {
    for (const bool is_left : {true, false}) {
      NetDeviceContainer pair = access.Install(is_left ? left.Get(i) : right.Get(i), routers.Get(is_left ? 0 : 1));
      const std::string network = (is_left ? "10.1." : "10.2.") + std::to_string(i) + ".0";
      addresses.SetBase(network.c_str(), "255.255.255.0");
      Ipv4InterfaceContainer interfaces = addresses.Assign(pair);
      if (!is_left) receivers.Add(interfaces.Get(0));
      devices.Add(pair);
    }
  }
  // Addresses bring a default queue discipline along, which would be a second queue.
  TrafficControlHelper traffic_control;
  for (uint32_t i = 0; i < devices.GetN(); i++) traffic_control.Uninstall(devices.Get(i));
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  ApplicationContainer sinks;
  for (uint32_t i = 0; i < flows; i++) {
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    sinks.Add(sink.Install(right.Get(i)));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(receivers.GetAddress(i), 5000));
    bulk.SetAttribute("MaxBytes", UintegerValue(0));
    bulk.SetAttribute("SendSize", UintegerValue(kSegmentBytes));
    bulk.Install(left.Get(i)).Start(Seconds(spacing * i));
  }
  Simulator::Stop(Seconds(time));
  const double began = CpuSeconds();
  Simulator::Run();
  const double cpu_s = CpuSeconds() - began;

  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < flows; i++) {
    const double received = static_cast<double>(DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx());
    sum += received;
    squares += received * received;
  }
  std::printf("{\"cpu_s\": %.3f, \"packets\": %.0f, \"goodput_bps\": %.0f, \"jain_index\": %.4f}\n", cpu_s,
              sum / kSegmentBytes, sum * 8 / time, squares > 0 ? sum * sum / (flows * squares) : 0.0);
  Simulator::Destroy();
  return 0;
}
