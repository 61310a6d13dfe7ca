import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { limitLog, safeLog } from '../../src/runtime/safe-log.js'

const recordingLog = () => {
  const logged: unknown[][] = []
  const level =
    (name: string) =>
    (...args: unknown[]) =>
      void logged.push([name, ...args])
  return {
    logged,
    log: { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') },
  }
}

describe('safeLog', () => {
  it('passes on level, fields and message without secrets', () => {
    const { logged, log } = recordingLog()
    const safe = safeLog(log)
    safe.debug({ n: 1 }, 'd')
    safe.info({ url: 'http://u:p@host/?q' }, 'listening')
    safe.warn({ apiKey: 'k', reason: 'out' }, 'could not reach http://u:p@host/?q')
    safe.error({ err: Object.assign(new Error('no'), { code: 'E', query: 'q' }) }, 'failed')
    expect(logged).toEqual([
      ['debug', { n: 1 }, 'd'],
      ['info', { url: 'http://[redacted]@host/' }, 'listening'],
      ['warn', { apiKey: '[redacted]', reason: 'out' }, 'could not reach http://[redacted]@host/'],
      ['error', { err: { name: 'Error', message: 'no', code: 'E' } }, 'failed'],
    ])
  })

  it('logs the message even if the fields cannot be read', () => {
    const { logged, log } = recordingLog()
    const fields = {
      get unreadable(): string {
        throw new Error('no')
      },
    }
    safeLog(log).warn(fields, 'first')
    safeLog(log).warn(null as never, 'second')
    expect(logged).toEqual([
      ['warn', {}, 'first'],
      ['warn', {}, 'second'],
    ])
  })

  it('never throws, whether the logger throws, rejects or is absent', async () => {
    const { log } = recordingLog()
    const throwing = () => {
      throw new Error('no')
    }
    const rejecting = () => Promise.reject(new Error('no'))
    for (const warn of [throwing, rejecting]) safeLog({ ...log, warn }).warn({}, 'x')
    safeLog(undefined).error({ token: 't' }, 'x')
    // An unhandled rejection would fail the run.
    await new Promise((resolve) => setImmediate(resolve))
  })
})

describe('limitLog', () => {
  const start = (kindOf?: Parameters<typeof limitLog>[2]) => {
    const clock = manualClock()
    const { logged, log } = recordingLog()
    const limited = limitLog(log, clock, kindOf)
    const write = (count: number, fields: object = {}, message = 'refused') => {
      for (let nth = 1; nth <= count; nth++) limited.warn({ nth, ...fields }, message)
    }
    return { clock, logged, limited, write, last: () => logged.at(-1) }
  }

  it('writes ten lines, then the last one of every ten seconds with the number that it stands for', async () => {
    const { clock, logged, write, last } = start()
    write(40_000)
    expect(logged).toHaveLength(10)
    await clock.advance(9_999)
    expect(logged).toHaveLength(10)
    await clock.advance(1)
    expect(logged).toHaveLength(11)
    expect(last()).toEqual(['warn', { nth: 40_000, repeated: 39_990 }, 'refused'])
    expect(clock.sleepers().count).toBe(0)
  })

  it('limits lines that come once a second', async () => {
    const { clock, logged, write } = start()
    for (let second = 0; second < 60; second++) {
      write(1)
      await clock.advance(1_000)
    }
    expect(logged.length).toBeLessThanOrEqual(15)
    const all = logged.map(([, fields]) => (fields as { repeated?: number }).repeated ?? 1)
    expect(all.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(50)
  })

  it('begins anew after ten seconds without a line', async () => {
    const { clock, logged, write } = start()
    write(12)
    await clock.advance(10_000)
    expect(logged).toHaveLength(11)
    await clock.advance(10_000)
    write(1)
    expect(logged).toHaveLength(12)
    expect(clock.sleepers().count).toBe(0)
  })

  it('writes a single line that waited as it is', async () => {
    const { clock, write, last } = start()
    write(11)
    await clock.advance(10_000)
    expect(last()).toEqual(['warn', { nth: 11 }, 'refused'])
  })

  it('tells levels, messages, SQLSTATEs, codes and the kinds of its owner apart', () => {
    const { logged, limited, write } = start(({ source = '' }) => String(source))
    write(11)
    write(11, {}, 'another message')
    write(11, { sqlState: '53300' })
    write(11, { sqlState: '57P01' })
    write(11, { code: 'NotFound' })
    write(11, { source: 'a' })
    for (let nth = 0; nth < 11; nth++) limited.error({}, 'refused')
    expect(logged).toHaveLength(70)
    for (let nth = 0; nth < 100; nth++) limited.debug({}, 'refused')
    expect(logged).toHaveLength(170)
  })

  it('counts for each account, so that the lines of one do not hide those of another', async () => {
    const { clock, logged, write } = start()
    write(5_000, { accountId: 'loud' })
    write(3, { accountId: 'quiet' })
    write(4)
    expect(logged).toHaveLength(11)
    expect(logged.at(-1)).toEqual(['warn', { nth: 1, accountId: 'quiet' }, 'refused'])
    await clock.advance(10_000)
    expect(logged.slice(11)).toEqual([
      ['warn', { nth: 5_000, accountId: 'loud', repeated: 4_990 }, 'refused'],
      ['warn', { nth: 3, accountId: 'quiet', repeated: 2 }, 'refused'],
      ['warn', { nth: 4, repeated: 4 }, 'refused'],
    ])
  })

  it('is bounded whatever the accounts are, and loses no count', async () => {
    const { clock, logged, write } = start()
    for (let nth = 0; nth < 5_000; nth++) write(2, { accountId: `account-${nth}` })
    expect(logged.length).toBeLessThan(200)
    expect(clock.sleepers().count).toBeLessThan(200)
    await clock.advance(10_000)
    const all = logged.map(([, fields]) => (fields as { repeated?: number }).repeated ?? 1)
    expect(all.reduce((sum, count) => sum + count)).toBe(10_000)
  })

  it('is bounded whatever the messages are, and loses no count', async () => {
    const { clock, logged, limited } = start()
    for (let nth = 0; nth < 5_000; nth++) limited.info({}, `message ${nth}`)
    expect(logged.length).toBeLessThan(200)
    expect(clock.sleepers().count).toBeLessThan(10)
    await clock.advance(10_000)
    const all = logged.map(([, fields]) => (fields as { repeated?: number }).repeated ?? 1)
    expect(all.reduce((sum, count) => sum + count)).toBe(5_000)
  })

  it('writes what waits when it is closed, and waits no longer', async () => {
    const { clock, logged, limited, write, last } = start()
    write(15)
    limited.close()
    await clock.settle()
    expect(last()).toEqual(['warn', { nth: 15, repeated: 5 }, 'refused'])
    expect(clock.sleepers().count).toBe(0)
    write(100)
    expect(logged).toHaveLength(11)
  })
})
