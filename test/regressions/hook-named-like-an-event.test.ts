/**
 * What went wrong: a kind of event of the host's could be called `delivered` or `event`. Who listened for ends of
 * deliveries then heard calls, and who listened for `event` heard each twice.
 */
import { createHookswitch, memoryStore } from 'hookswitch'
import { describe, expect, it } from 'vitest'

describe('a kind of event named like what hs.events tells already', () => {
  const names = ['event', 'attempt', 'webhook_disabled', 'delivered', 'exhausted', 'expired', 'cancelled']
  for (const id of [...names, 'quarantined']) {
    it(`${id} is refused by name`, () => {
      const hooks = [{ id: 'queue_joined' }, { id }]
      expect(() => createHookswitch({ store: memoryStore(), hooks })).toThrow(
        expect.objectContaining({ code: 'InvalidOption', field: 'hooks[1].id' }),
      )
    })
  }
})
