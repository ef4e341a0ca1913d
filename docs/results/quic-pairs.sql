with runs_ as (select "case" as pair, "topology.bottleneck.loss" as loss, "topology.rtt" as rtt, repetition,
 100 * sum(goodput_bps) filter (id = 'two') / sum(goodput_bps) as share, avg(rtt_p50_ms) as r,
 1000 * sum(coalesce(quic_lost, retransmitted_segments))
 / sum(coalesce(quic_sent, sent_bytes / 1448 + retransmitted_segments)) as lost
 from flows group by all),
networks as (select pair, loss, rtt, avg(share) as share, avg(r) as r, avg(lost) as lost, stddev_samp(share) as deviation from runs_ group by all)
select pair, count(*) as networks, round(median(a.share), 0) as share, round(list_sort(list(a.share))[2], 0) as low,
 round(list_sort(list(a.share))[-2], 0) as high, round(min(a.share), 0) as least, round(max(a.share), 0) as most,
 count(*) filter (abs(a.share - 50) > 4.303 * deviation / sqrt(3) and a.share < 50) as below,
 count(*) filter (abs(a.share - 50) > 4.303 * deviation / sqrt(3) and a.share > 50) as above,
 round(median(a.r / k.r), 2) as rtt_ratio, round(median(a.lost), 1) as lost_of_1000
 from networks a join (select loss as l, rtt as t, pair as p, r from networks where pair in ('cubic, cubic', 'bbr, bbr')) k
 on a.loss = k.l and a.rtt = k.t and k.p = case when a.pair like '%cubic%' then 'cubic, cubic' else 'bbr, bbr' end
 group by all order by pair
