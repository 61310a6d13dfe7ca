/**
 * While the store was unreadable, `start()` waited for it and `close()` waited for `start()`, forever. After a failed
 * start, every later one failed with the same error.
 */
import { createHookswitch, memoryStore } from 'hookswitch'
import { expect, it } from 'vitest'
import { deferred } from '../support/deferred.js'

it('close() ends a start that waits for its store', async () => {
  const store = memoryStore()
  const { promise: storeRead, resolve: onRead } = deferred()
  const deliveries = {
    ...store.deliveries,
    async load() {
      onRead()
      throw new Error('the store is unavailable')
    },
  }
  const hs = createHookswitch({ store: { ...store, deliveries } })
  const started = hs.start()
  await storeRead
  await hs.close({ drainMs: 0 })
  await started
  await expect(store.accounts.list()).rejects.toMatchObject({ code: 'StoreUnavailable' })
})

it('close() right after start() resolves', async () => {
  const store = memoryStore()
  const hs = createHookswitch({ store })
  const started = hs.start()
  await hs.close()
  await started
  await expect(store.accounts.list()).rejects.toMatchObject({ code: 'StoreUnavailable' })
})

it('start() may be called again after a failure', async () => {
  const store = memoryStore()
  let failures = 2
  const hs = createHookswitch({
    store: {
      ...store,
      open: async (deps) => {
        if (failures-- > 0) throw new Error('not yet')
        return store.open(deps)
      },
    },
  })
  await expect(hs.start()).rejects.toThrow('not yet')
  await expect(hs.start()).rejects.toThrow('not yet')
  await hs.start()
  expect(await hs.accounts.list()).toEqual([])
  await hs.close()
})
