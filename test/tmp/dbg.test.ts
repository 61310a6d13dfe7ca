import { it } from 'vitest'
import { runPolicy } from '../policy/harness.js'
import { answers, calls, OK } from '../policy/receivers.js'
it('dbg', async () => {
      const arrivals = calls(1, 0, 4*3600)
      const [, call, seq] = arrivals[Math.floor(arrivals.length / 10)]!
      const run = await runPolicy({
        until: 40000,
        endpoints: [{ receiver: (_, one) => (one.call === call && one.seq === seq ? answers(429, 60) : OK), arrivals }],
      })
    const e = run.endpoints[0]!
    const th = e.requests.filter((r) => r.status === 429).map((r) => Math.round(r.at))
    const l = e.latencies()
    console.log('PEND', th.slice(0, 12).join(' '), 'max', Math.max(...l), 'late', l.filter((x) => x > 1200).length)
    for (let t = th[0]! - 60; t < th[0]! + 3600; t += 120) console.log('PEND', t, e.requests.filter((r) => r.status === 200 && r.at >= t && r.at < t + 120).length / 120)
}, 100000)
