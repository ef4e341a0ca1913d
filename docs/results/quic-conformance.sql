with n as (select "case" as c, "topology.bottleneck.rate" as rate, "topology.rtt" as rtt, "topology.bottleneck.buffer" as buffer,
 "topology.bottleneck.loss" as loss, avg(goodput_bps) as g, var_samp(goodput_bps) as v, avg(rtt_p50_ms) as r,
 avg(coalesce(quic_lost / quic_sent, retransmitted_segments / (sent_bytes / 1448 + retransmitted_segments))) as l
 from flows group by all),
p as (select a.c, loss, a.g / k.g as g, a.r / k.r as r, 1000 * a.l as l, 1000 * k.l as kl,
 abs(a.g - k.g) > 2.776 * sqrt((a.v + k.v) / 3) and abs(a.g / k.g - 1) > 0.05 as differs
 from n a join n k using (rate, rtt, buffer, loss)
 where k.c = 'cubic' and a.c like '%/cubic' or k.c = 'bbr' and a.c like '%/bbr%')
select c, loss, count(*) as networks, round(median(g), 2) as goodput, round(list_sort(list(g))[10], 2) as low, round(list_sort(list(g))[-10], 2) as high,
 round(min(g), 2) as least, round(max(g), 2) as most, count(*) filter (differs and g < 1) as fewer, count(*) filter (differs and g > 1) as more,
 round(median(r), 2) as rtt, round(list_sort(list(r))[10], 2) as rtt_low, round(list_sort(list(r))[-10], 2) as rtt_high,
 round(median(l), 1) as lost, round(median(kl), 1) as kernel_lost
from p group by all order by loss, c
