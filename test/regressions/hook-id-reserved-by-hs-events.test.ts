/**
 * A custom hook could have the id `delivered` or `event`. Listeners of `delivered` then received call events, and
 * listeners of `event` received each event twice.
 */
import { createHookswitch, memoryStore } from 'hookswitch'
import { describe, expect, it } from 'vitest'

describe('a custom hook whose id is an event of hs.events', () => {
  const names = [
    'event',
    'attempt',
    'webhook_disabled',
    'delivered',
    'exhausted',
    'expired',
    'cancelled',
    'quarantined',
  ]
  for (const id of [...names, 'event_refused']) {
    it(`${id} is rejected, and the error names the option`, () => {
      const hooks = [{ id: 'queue_joined' }, { id }]
      expect(() => createHookswitch({ store: memoryStore(), hooks })).toThrow(
        expect.objectContaining({ code: 'InvalidOption', field: 'hooks[1].id' }),
      )
    })
  }
})
