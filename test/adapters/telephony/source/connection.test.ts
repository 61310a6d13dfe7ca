import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { keepConnected, type Session } from '../../../../adapters/telephony/source/connection.js'
import { retryDelayMs } from '../../../../adapters/telephony/source/retry-delay.js'

function session() {
  let end: (reason: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    end = resolve
  })
  const made = { ended, end, isClosed: false, close: () => {} }
  made.close = () => {
    made.isClosed = true
    end('closed')
  }
  return made
}

function underTest(open: (attempt: number) => Promise<Session>) {
  const clock = manualClock()
  const log: string[] = []
  let attempts = 0
  const kept = keepConnected({
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
  return { kept, clock, log, attempts: () => attempts }
}

describe('a kept connection', () => {
  it('is tried again, later and later, until it stands', async () => {
    const good = session()
    const { kept, clock, log, attempts } = underTest(async (attempt) => {
      if (attempt < 12) throw new Error('refused')
      return good
    })
    await clock.runUntil(() => log.includes('connected'))
    expect(attempts()).toBe(12)
    expect(log.filter((line) => line === 'refused later').length).toBeGreaterThanOrEqual(10)
    await kept.close()
    expect(good.isClosed).toBe(true)
  })

  it('comes back soon after a good session, and slower where each one ends at once', async () => {
    const sessions = Array.from({ length: 4 }, session)
    const { kept, clock, log } = underTest(async (attempt) => sessions[attempt - 1] as Session)
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
    await kept.close()
  })

  it('waits longer each time for one that is silent for long before it is a session', async () => {
    const { kept, clock, log } = underTest(async () => {
      await clock.sleep(10_000)
      throw new Error('no login')
    })
    await clock.runUntil(() => log.filter((line) => line === 'no login later').length >= 3)
    await kept.close()
  })

  it('ends while it waits, and says nothing of its own end', async () => {
    const { kept, clock, log } = underTest(async () => {
      throw new Error('refused')
    })
    await clock.settle()
    await kept.close()
    expect(log).toEqual(['open', 'refused soon'])
    expect(clock.sleepers().count).toBe(0)
  })

  it('ends while it is being opened', async () => {
    let opened: (s: Session) => void = () => {}
    const late = session()
    const { kept, clock, log } = underTest(() => new Promise((resolve) => (opened = resolve)))
    await clock.settle()
    const closed = kept.close()
    opened(late)
    await closed
    expect(late.isClosed).toBe(true)
    expect(log).toEqual(['open'])
  })
})

describe('the delay before the next try', () => {
  it('doubles from 100 ms to its bound, its upper half by chance', () => {
    expect([1, 2, 3, 9, 10, 1_000].map((attempt) => retryDelayMs(attempt, 0, 30_000))).toEqual([
      50, 100, 200, 12_800, 15_000, 15_000,
    ])
    expect(retryDelayMs(1, 0.999999, 30_000)).toBe(100)
    expect(retryDelayMs(1_000, 0.999999, 30_000)).toBe(30_000)
  })
})
