import type { LiveListener, StoredLiveBatch } from '../../../src/delivery/live-store.js'
import { faultsOf, type StoreFault } from './store-fault.js'

const liveFault = faultsOf('live items', 'live')

/** Replaces the batches of a read. */
const onBatches = (change: (batches: readonly StoredLiveBatch[]) => readonly StoredLiveBatch[]) =>
  ((store) => ({
    async read(reader, after) {
      const part = await store.read(reader, after)
      return { ...part, batches: change(part.batches) }
    },
  })) satisfies Parameters<typeof liveFault>[1]

/** Defects of items for live streams. */
export const brokenLiveItems: readonly StoreFault[] = [
  liveFault('an instance sees what it watches itself', (store) => ({
    watched: () => store.watched('nobody'),
  })),
  liveFault('what is watched never ends', (store) => ({
    watch: (reader, watches) => store.watch(reader, watches, 9e9),
  })),
  liveFault(
    'the accounts of items are mixed up',
    onBatches((batches) =>
      batches.map((batch) => ({
        ...batch,
        items: batch.items.map((item, index) => ({
          ...item,
          accountId: batch.items.at(index - 1)!.accountId,
        })),
      })),
    ),
  ),
  liveFault('a writer reads its own batches', (store) => ({
    read: (_reader, after) => store.read('nobody', after),
  })),
  liveFault('a repeated batch is written twice', (store) => {
    let number = 0
    return {
      put(batch, forget) {
        number += 1
        return store.put({ ...batch, number }, forget)
      },
    }
  }),
  liveFault('a writer forgets one batch too many', (store) => ({
    put: (batch, forget) => store.put(batch, forget === 0 ? 0 : forget + 1),
  })),
  liveFault('the first writers are read before the others', (store) => ({
    async read(reader, after) {
      const ends = [...(await store.ends(reader))].sort()
      for (const [writer, end] of ends) {
        if (end <= (after.get(writer) ?? 0)) continue
        const others = ends.filter(([other]) => other !== writer)
        const part = await store.read(reader, new Map([...others, [writer, after.get(writer) ?? 0]]))
        return { ...part, hasMore: true }
      }
      return { batches: [], hasMore: false }
    },
  })),
  liveFault('an erasure forgets the items', (store) => ({
    put: ({ items, ...batch }, forget) =>
      store.put({ ...batch, items: items.map(({ callId: _none, ...item }) => item) }, forget),
  })),
  liveFault('items of erased events are written', (store) => ({
    put: ({ items, ...batch }, forget) =>
      store.put({ ...batch, items: items.map(({ eventId: _none, ...item }) => item) }, forget),
  })),
  liveFault('nobody is notified of what is watched', (store) => ({
    subscribe: (listener: LiveListener) => store.subscribe({ ...listener, onWatched() {} }),
  })),
  liveFault('a closed store reads nothing', (store) => ({
    read: (reader, after) => store.read(reader, after).catch(() => ({ batches: [], hasMore: false })),
  })),
]
