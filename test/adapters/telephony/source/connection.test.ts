import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { keepConnected, type SwitchSession } from '../../../../adapters/telephony/source/connection.js'
import { retryDelayMs } from '../../../../adapters/telephony/source/retry-delay.js'

function createSession() {
  let end: (reason: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    end = resolve
  })
  const session = { ended, end, isClosed: false, close: () => {} }
  session.close = () => {
    session.isClosed = true
    end('closed')
  }
  return session
}

function startConnection(open: (attempt: number) => Promise<SwitchSession>) {
  const clock = manualClock()
  const log: string[] = []
  let attempts = 0
  const connection = keepConnected({
    clock,
    random: seededRandom(1),
    open: () => {
      attempts += 1
      log.push('open')
      return open(attempts)
    },
    onConnected: () => log.push('connected'),
    onDisconnected: (reason, ms) => log.push(`${reason} ${ms <= 100 ? 'soon' : 'later'}`),
  })
  return { connection, clock, log, attempts: () => attempts }
}

describe('keepConnected', () => {
  it('retries with growing delays until it connects', async () => {
    const good = createSession()
    const { connection, clock, log, attempts } = startConnection(async (attempt) => {
      if (attempt < 12) throw new Error('refused')
      return good
    })
    await clock.runUntil(() => log.includes('connected'))
    expect(attempts()).toBe(12)
    expect(log.filter((line) => line === 'refused later').length).toBeGreaterThanOrEqual(10)
    await connection.close()
    expect(good.isClosed).toBe(true)
  })

  it.each([
    ['of one second that has logged in and resynced', 1_000, true, 'soon'],
    ['that is cut at once', 999, true, 'later'],
    ['of five seconds that has not resynced, or was evicted', 5_000, false, 'later'],
    ['of ten seconds', 10_000, false, 'soon'],
  ])('after failures, a session %s is followed by the next attempt', async (_, lastsMs, isSettled, next) => {
    const session = { ...createSession(), isSettled: () => isSettled }
    const { connection, clock, log } = startConnection(async (attempt) => {
      if (attempt < 5) throw new Error('refused')
      return session
    })
    await clock.runUntil(() => log.includes('connected'))
    await clock.advance(lastsMs)
    session.end('gone')
    await clock.settle()
    expect(log.at(-1)).toBe(`gone ${next}`)
    await connection.close()
  })

  it('reconnects soon after a stable session, and later after each short one', async () => {
    const sessions = Array.from({ length: 4 }, createSession)
    const { connection, clock, log } = startConnection(
      async (attempt) => sessions[attempt - 1] as SwitchSession,
    )
    await clock.settle()
    await clock.advance(10_000)
    sessions[0]?.end('gone')
    await clock.settle()
    expect(log.at(-1)).toBe('gone soon')
    await clock.advance(100)
    sessions[1]?.end('gone')
    await clock.advance(200)
    sessions[2]?.end('gone')
    await clock.settle()
    expect(log.at(-1)).toBe('gone later')
    await connection.close()
  })

  it('backs off if opening a session takes long and fails', async () => {
    const { connection, clock, log } = startConnection(async () => {
      await clock.sleep(10_000)
      throw new Error('no login')
    })
    await clock.runUntil(() => log.filter((line) => line === 'no login later').length >= 3)
    await connection.close()
  })

  it('waits for at most 5 s', async () => {
    const delays: number[] = []
    const clock = manualClock()
    const connection = keepConnected({
      clock,
      random: { ...seededRandom(1), fraction: () => 0.999_999 },
      open: async () => {
        throw new Error('refused')
      },
      onConnected: () => {},
      onDisconnected: (_, retryInMs) => void delays.push(retryInMs),
    })
    await clock.runUntil(() => delays.length === 20)
    expect([delays[0], Math.max(...delays)]).toEqual([100, 5_000])
    await connection.close()
  })

  it('stops while it waits for a retry, without reporting its own close', async () => {
    const { connection, clock, log } = startConnection(async () => {
      throw new Error('refused')
    })
    await clock.settle()
    await connection.close()
    expect(log).toEqual(['open', 'refused soon'])
    expect(clock.sleepers().count).toBe(0)
  })

  it('closes a session that is opened after the close', async () => {
    let opened: (s: SwitchSession) => void = () => {}
    const late = createSession()
    const { connection, clock, log } = startConnection(() => new Promise((resolve) => (opened = resolve)))
    await clock.settle()
    const closed = connection.close()
    opened(late)
    await closed
    expect(late.isClosed).toBe(true)
    expect(log).toEqual(['open'])
  })
})

describe('the delay before a retry', () => {
  it('doubles from 100 ms to its bound, with a random upper half', () => {
    expect([1, 2, 3, 9, 10, 1_000].map((attempt) => retryDelayMs(attempt, 0, 30_000))).toEqual([
      50, 100, 200, 12_800, 15_000, 15_000,
    ])
    expect(retryDelayMs(1, 0.999999, 30_000)).toBe(100)
    expect(retryDelayMs(1_000, 0.999999, 30_000)).toBe(30_000)
  })
})
