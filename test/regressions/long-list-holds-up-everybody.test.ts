/**
 * What went wrong: a filtered list of attempts was read in one go. With 1,000 conditions over 27,000 attempts the
 * process stood still for 1.6 s, calls and all.
 */
import { memoryStore, systemClock } from 'hookswitch'
import { expect, it } from 'vitest'
import { created, services, told } from '../service/running.js'

const running = services()
const OK = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const

it('others have their turn between the batches of a long list', async () => {
  const system = systemClock()
  let turns = 0
  const clock = {
    ...system,
    yield() {
      turns += 1
      return system.yield()
    },
  }
  const sender = { send: async () => OK, close: async () => {} }
  const store = memoryStore({ attemptsPerWebhook: 2_000 })
  const { hs, ask, webhook } = await running({ clock, sender, store })
  await webhook('/hook', { ordering: 'none' })
  const delivered = told(hs, 'delivered', 1_200)
  for (let n = 0; n < 1_200; n++) await hs.publish(created(`${n}`))
  await delivered
  // The dispatcher looks for more once.
  await system.yield()
  turns = 0
  const answer = await ask('GET', '/v1/accounts/parent/webhooks/attempts?filter_hook_event=none')
  expect(answer.json.data).toEqual([])
  expect(turns).toBe(2)
})
