/**
 * What went wrong: changes of one webhook raced, and gave up after twenty rounds. Of a hundred PATCHes at once, none
 * with an `If-Match`, eighty were answered 412 and lost.
 */
import { expect, it } from 'vitest'
import { services } from '../service/running.js'

const running = services()

it('a hundred patches at once all hold', async () => {
  const { hs, webhook } = await running()
  const id = await webhook('/hook')
  const numbers = Array.from({ length: 100 }, (_, n) => String(n))
  await Promise.all(numbers.map((n) => hs.webhooks.patch('parent', id, { customData: { [n]: n } })))
  const { customData, revision } = await hs.webhooks.read('parent', id)
  expect(Object.keys(customData ?? {})).toEqual(numbers)
  expect(revision).toBe(101)
})

it('of a hundred that name the same revision, one holds', async () => {
  const { hs, webhook } = await running()
  const id = await webhook('/hook')
  const patch = (n: number) => hs.webhooks.patch('parent', id, { group: String(n) }, { revision: 1 })
  const ends = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => patch(n)))
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(ends.find((end) => end.status === 'rejected')).toMatchObject({
    reason: { code: 'RevisionConflict' },
  })
})
