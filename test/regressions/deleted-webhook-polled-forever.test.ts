/**
 * A paused endpoint whose webhook was deleted and pruned before the pause ended was claimed four times a second, forever:
 * claims of the store do not mention it, so it never became idle.
 */
import { expect, it } from 'vitest'
import { createScheduler } from '../../src/delivery/scheduler/scheduler.js'

it('an endpoint that the result of a claim omits is idle', () => {
  const schedule = createScheduler({ perEndpoint: 10, perAccount: 100, perOrigin: 100, total: 500 })
  schedule.update({
    webhookId: 'gone',
    accountId: 'a',
    origin: 'https://a.example',
    failing: false,
    dueMs: 5,
  })
  schedule.update({
    webhookId: 'live',
    accountId: 'a',
    origin: 'https://a.example',
    failing: false,
    dueMs: 5,
  })
  const picked = schedule.next(5, 2)
  expect(picked.map(({ webhookId }) => webhookId).sort()).toEqual(['gone', 'live'])
  schedule.completeClaim(
    picked,
    [{ webhookId: 'live', accountId: 'a', origin: 'https://a.example', failing: false, dueMs: 9 }],
    schedule.version(),
  )
  expect(schedule.next(5, 2)).toEqual([])
  expect(schedule.nextDueMs()).toBe(9)
  expect(schedule.next(9, 2).map(({ webhookId }) => webhookId)).toEqual(['live'])
})
