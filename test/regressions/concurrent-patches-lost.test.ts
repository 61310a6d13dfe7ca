/**
 * Concurrent changes of one webhook raced and gave up after twenty attempts. Of a hundred concurrent PATCH requests
 * without `If-Match`, eighty failed with 412.
 */
import { expect, it } from 'vitest'
import { serviceFixture } from '../service/service-fixture.js'

const startService = serviceFixture()

it('a hundred concurrent patches are all applied', async () => {
  const { hs, createWebhook } = await startService()
  const id = await createWebhook('/hook')
  const numbers = Array.from({ length: 100 }, (_, n) => String(n))
  await Promise.all(numbers.map((n) => hs.webhooks.patch('parent', id, { customData: { [n]: n } })))
  const { customData, revision } = await hs.webhooks.read('parent', id)
  expect(Object.keys(customData ?? {})).toEqual(numbers)
  expect(revision).toBe(101)
})

it('of a hundred patches with the same revision one is applied', async () => {
  const { hs, createWebhook } = await startService()
  const id = await createWebhook('/hook')
  const patch = (n: number) => hs.webhooks.patch('parent', id, { group: String(n) }, { revision: 1 })
  const results = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => patch(n)))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(results.find((result) => result.status === 'rejected')).toMatchObject({
    reason: { code: 'RevisionConflict' },
  })
})
