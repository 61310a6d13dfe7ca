import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { QueueEndpoint } from '../../../src/delivery/queue/queue-endpoint.js'
import { accountLimit, cutLevel, type ShareLimit, Shares } from '../../../src/delivery/queue/shares.js'
import { propertyRuns } from '../../support/property-runs.js'
import { aWebhook } from '../fixtures.js'

const backlogs = fc.array(fc.nat(30), { minLength: 1, maxLength: 12 })

/** Takes one delivery after the other from the largest backlog. */
function takeFromLargest(sizes: readonly number[], count: number): number[] {
  const left = [...sizes]
  for (let taken = 0; taken < count && Math.max(...left) > 0; taken++)
    left[left.indexOf(Math.max(...left))]!--
  return left
}

describe('the level to which backlogs are cut', () => {
  it('is the one that is reached by taking from the largest again and again', () => {
    fc.assert(
      fc.property(backlogs, fc.nat(100), (sizes, excess) => {
        const level = cutLevel(sizes, excess)
        const left = takeFromLargest(sizes, excess)
        // The last round takes from some of those on the same level only.
        expect(left.map((size) => Math.min(size, level))).toEqual(sizes.map((size) => Math.min(size, level)))
        const above = Math.max(...left) - level
        expect(above).toBeGreaterThanOrEqual(0)
        expect(above).toBeLessThanOrEqual(1)
      }),
      { numRuns: propertyRuns(500) },
    )
  })
})

it('an account may use a fifth of the queue unless its limit is set', () => {
  const limits = { maxPending: 1_000_000, maxPendingPerWebhook: 50_000 }
  expect(accountLimit(limits)).toBe(200_000)
  expect(accountLimit({ ...limits, maxPendingPerAccount: 7 })).toBe(7)
  expect(accountLimit({ ...limits, maxPending: 4 })).toBe(1)
})

it('what may be added besides events leaves half of every limit: of the webhook, its account, and all', () => {
  const shares = new Shares({ maxPending: 1_000, maxPendingPerAccount: 300, maxPendingPerWebhook: 100 })
  expect(shares.spare(20, 20, 1_000)).toBe(30)
  expect(shares.spare(20, 140, 1_000)).toBe(10)
  expect(shares.spare(0, 0, 30)).toBe(15)
  expect(shares.spare(80, 80, 1_000)).toBe(-30)
})

describe('shares', () => {
  const LIMITS = { maxPending: 60, maxPendingPerAccount: 40, maxPendingPerWebhook: 25 }

  /** Endpoints `a0`, `a1`, … of account `a` and so on, with these backlogs. */
  function withBacklogs(sizes: Readonly<Record<string, readonly number[]>>, limits = LIMITS) {
    const shares = new Shares(limits)
    const endpoints = Object.entries(sizes).flatMap(([accountId, ofAccount]) => {
      const own = ofAccount.map(
        (_, index) => new QueueEndpoint(aWebhook({}, { id: `${accountId}${index}`, accountId }), 0),
      )
      for (const endpoint of own) endpoint.account = own[0]!.account
      return own
    })
    Object.values(sizes)
      .flat()
      .forEach((size, index) => {
        for (let count = 0; count < size; count++) shares.enter(endpoints[index]!)
      })
    const given: [string, number, ShareLimit][] = []
    const trim = (maxTotal = limits.maxPending) =>
      shares.trim(
        maxTotal,
        () => endpoints,
        (endpoint, count, limit) => {
          given.push([endpoint.id, count, limit])
          shares.add(endpoint, -count)
        },
      )
    return { shares, endpoints, given, trim }
  }

  it.each([
    ['nothing at the limits', { a: [25, 15], b: [20] }, []],
    [
      'the webhook that has more than its share',
      { a: [26, 5], b: [20] },
      [['a0', 1, 'maxPendingPerWebhook']],
    ],
    [
      'the largest webhook of an account that has more than its share',
      { a: [10, 22, 15] },
      [['a1', 7, 'maxPendingPerAccount']],
    ],
    [
      'several, where one alone would end below the others',
      { a: [20, 22, 15] },
      [
        ['a1', 9, 'maxPendingPerAccount'],
        ['a0', 7, 'maxPendingPerAccount'],
        ['a2', 1, 'maxPendingPerAccount'],
      ],
    ],
    ['the largest of all', { a: [10, 12], b: [25, 5], c: [10] }, [['b0', 2, 'maxPending']]],
  ])('take from %s', (_, sizes, expected) => {
    const { given, trim, shares } = withBacklogs(sizes as never)
    trim()
    expect(given).toEqual(expected)
    expect(shares.backlog).toBeLessThanOrEqual(60)
    trim()
    expect(given).toEqual(expected)
  })

  it('take no more than is above the limits, whatever waits for whom', () => {
    const sizes = fc.record({ a: backlogs, b: backlogs, c: backlogs })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 70 }), (waiting, maxTotal) => {
        const { shares, endpoints, given, trim } = withBacklogs(waiting)
        trim(maxTotal)
        const of = (accountId: string) =>
          endpoints.filter(({ account }) => account.accountId === accountId).map(({ backlog }) => backlog)
        const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
        let expected = 0
        for (const accountId of ['a', 'b', 'c'] as const) {
          const capped = sum(waiting[accountId].map((size) => Math.min(size, 25)))
          expect(sum(of(accountId))).toBeLessThanOrEqual(40)
          expected += Math.min(capped, 40)
        }
        expect(Math.max(...endpoints.map(({ backlog }) => backlog))).toBeLessThanOrEqual(25)
        expect(shares.backlog).toBe(Math.min(expected, maxTotal))
        for (const [, count] of given) expect(count).toBeGreaterThan(0)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('find the next largest without a search, as long as those that were found are above the level', () => {
    const limits = { maxPending: 1_000, maxPendingPerAccount: 1_000, maxPendingPerWebhook: 1_000 }
    const { shares, endpoints, given } = withBacklogs({ a: [600], b: [400] }, limits)
    let searches = 0
    for (let count = 0; count < 10; count++) {
      shares.enter(endpoints[1]!)
      shares.trim(
        1_000,
        () => {
          searches++
          return endpoints
        },
        (endpoint, taken, limit) => {
          given.push([endpoint.id, taken, limit])
          shares.add(endpoint, -taken)
        },
      )
    }
    expect(searches).toBe(1)
    expect(given).toEqual(Array.from({ length: 10 }, () => ['a0', 1, 'maxPending']))
  })

  it('are checked again when the limits change', () => {
    const limits = { ...LIMITS }
    const { shares, endpoints, given, trim } = withBacklogs({ a: [20], b: [20] }, limits)
    limits.maxPendingPerWebhook = 5
    trim()
    expect(given).toEqual([])
    for (const endpoint of endpoints) shares.check(endpoint)
    trim()
    expect(given).toEqual([
      ['a0', 15, 'maxPendingPerWebhook'],
      ['b0', 15, 'maxPendingPerWebhook'],
    ])
  })
})
