import type { Log } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createLogLimiter } from '../../../../adapters/telephony/source/log-limiter.js'

function start() {
  const clock = manualClock()
  const lines: string[] = []
  const line = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
  const limiter = createLogLimiter(log, clock, 'switch')
  const writeMany = (count: number, kind = 'malformed') => {
    for (let nth = 0; nth < count; nth += 1) limiter.write('warn', kind, { nth }, `a ${kind} line`)
  }
  return { clock, lines, limiter, writeMany }
}

describe('the log limiter', () => {
  it('writes ten lines of a kind in a minute, and then how many it left out', async () => {
    const { clock, lines, writeMany } = start()
    writeMany(25)
    expect(lines).toEqual(
      Array.from({ length: 10 }, (_, nth) => `warn a malformed line {"source":"switch","nth":${nth}}`),
    )
    await clock.advance(59_999)
    expect(lines).toHaveLength(10)
    await clock.advance(1)
    expect(lines.slice(10)).toEqual([
      'warn similar lines were left out {"source":"switch","similarTo":"a malformed line","lines":15}',
    ])
    expect(clock.sleepers().count).toBe(0)
    writeMany(1)
    expect(lines).toHaveLength(12)
  })

  it('limits each kind by itself', () => {
    const { lines, writeMany } = start()
    writeMany(11)
    writeMany(11, 'other')
    expect(lines).toHaveLength(20)
  })

  it('reports what it left out when it is closed, and waits no longer', async () => {
    const { clock, lines, limiter, writeMany } = start()
    writeMany(12)
    limiter.close()
    await clock.settle()
    expect(lines).toHaveLength(11)
    expect(lines.at(-1)).toContain('"lines":2')
    expect(clock.sleepers().count).toBe(0)
  })
})
