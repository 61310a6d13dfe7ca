/**
 * A paused endpoint whose webhook was deleted, and forgotten before its pause ended, was asked for four times a second
 * for ever: the store does not know it, so nothing said that it is idle.
 */
import { expect, it } from 'vitest'
import { createSchedule } from '../../src/delivery/fairness.js'

it('an endpoint that a claim does not mention is idle', () => {
  const schedule = createSchedule({ perEndpoint: 10, perAccount: 100, perOrigin: 100, inAll: 500 })
  schedule.learn({ webhookId: 'gone', accountId: 'a', origin: 'https://a.example', failing: false, dueMs: 5 })
  schedule.learn({ webhookId: 'here', accountId: 'a', origin: 'https://a.example', failing: false, dueMs: 5 })
  const picked = schedule.pick(5, 2)
  expect(picked.map(({ webhookId }) => webhookId).sort()).toEqual(['gone', 'here'])
  schedule.claimed(
    picked,
    [{ webhookId: 'here', accountId: 'a', origin: 'https://a.example', failing: false, dueMs: 9 }],
    schedule.tick(),
  )
  expect(schedule.pick(5, 2)).toEqual([])
  expect(schedule.nextDueMs()).toBe(9)
  expect(schedule.pick(9, 2).map(({ webhookId }) => webhookId)).toEqual(['here'])
})
