/** One of several nodes on one store, with few deliveries in flight. */
import { SHARDS, shardOf } from 'hookswitch/store'
import { handleRequests } from '../processes.js'
import { createStore, forEachConcurrently, startWithStore } from './instance.js'

const HOOK = 'channel_answer'

let hs
let shards = 0

/** Wraps the store, to record the number of shards that this node owns. */
function recordShards(store) {
  const recording = (operation) => async (owner, leaseMs) => {
    const owned = await operation(owner, leaseMs)
    shards = owned.shards.length
    return owned
  }
  const { own, renew } = store.deliveries
  return { ...store, deliveries: { ...store.deliveries, own: recording(own), renew: recording(renew) } }
}

handleRequests(
  {
    async prepare({ location, inFlight }) {
      hs = await startWithStore(recordShards(await createStore(location)), {
        inFlight,
        inFlightPerEndpoint: inFlight,
      })
    },
    shards: () => shards,
    /** Creates `perShard` webhooks in every shard. Ids are random: a webhook in a full shard is removed again. */
    async setUp({ port, accounts, perShard }) {
      const webhooks = []
      const free = Array.from({ length: SHARDS }, () => perShard)
      const names = Array.from({ length: accounts }, (_, index) => `account-${index}`)
      await forEachConcurrently(names, (id) =>
        hs.accounts.create({ id, name: id, realm: `${id}.example.com` }),
      )
      const uri = `http://127.0.0.1:${port}/hooks`
      const createWebhooks = async (accountId) => {
        while (webhooks.length < SHARDS * perShard) {
          const { id } = await hs.webhooks.create(accountId, { name: 'bench', uri, hook: HOOK })
          if (free[shardOf(id)] > 0) {
            free[shardOf(id)] -= 1
            webhooks.push({ id, accountId })
          } else await hs.webhooks.remove(accountId, id)
        }
      }
      await forEachConcurrently(names, createWebhooks)
      return webhooks
    },
  },
  () => hs?.close({ drainMs: 0 }),
)
