/**
 * What went wrong: while the store could not be read, `start()` waited for it, and `close()` waited for `start()`, for
 * ever. And after a start that had failed, every later one failed with the same old error.
 */
import { createHookswitch, memoryStore } from 'hookswitch'
import { expect, it } from 'vitest'

it('close() ends a start that waits for its store', async () => {
  const store = memoryStore()
  let asked = () => {}
  const looking = new Promise<void>((resolve) => {
    asked = resolve
  })
  const deliveries = {
    ...store.deliveries,
    async orphans() {
      asked()
      throw new Error('the store is out')
    },
  }
  const hs = createHookswitch({ store: { ...store, deliveries } })
  const started = hs.start()
  await looking
  await hs.close({ drainMs: 0 })
  await started
  await expect(store.accounts.list()).rejects.toMatchObject({ code: 'StoreUnavailable' })
})

it('close() right after start() ends too', async () => {
  const store = memoryStore()
  const hs = createHookswitch({ store })
  const started = hs.start()
  await hs.close()
  await started
  await expect(store.accounts.list()).rejects.toMatchObject({ code: 'StoreUnavailable' })
})

it('a start that failed may be tried again', async () => {
  const store = memoryStore()
  let failures = 2
  const hs = createHookswitch({
    store: {
      ...store,
      open: async (doors) => {
        if (failures-- > 0) throw new Error('not yet')
        return store.open(doors)
      },
    },
  })
  await expect(hs.start()).rejects.toThrow('not yet')
  await expect(hs.start()).rejects.toThrow('not yet')
  await hs.start()
  expect(await hs.accounts.list()).toEqual([])
  await hs.close()
})
