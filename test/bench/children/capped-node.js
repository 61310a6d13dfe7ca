/** One of several nodes on one store, with little in flight. */
import { SHARDS, shardOf } from 'hookswitch/store'
import { answerParent } from '../processes.js'
import { startOn, storeOf, workThrough } from './instance.js'

const HOOK = 'channel_answer'

let hs
let shards = 0

/** The store, which tells on the way what this node owns. */
function watched(store) {
  const noting = (take) => async (owner, leaseMs) => {
    const owned = await take(owner, leaseMs)
    shards = owned.shards.length
    return owned
  }
  const { own, renew } = store.deliveries
  return { ...store, deliveries: { ...store.deliveries, own: noting(own), renew: noting(renew) } }
}

answerParent(
  {
    async prepare({ place, inFlight }) {
      hs = await startOn(watched(await storeOf(place)), { inFlight, inFlightPerEndpoint: inFlight })
    },
    shards: () => shards,
    /** Accounts with webhooks such that every shard has as many. Ids are given by chance: what is too many goes again. */
    async setUp({ port, accounts, perShard }) {
      const kept = []
      const room = Array.from({ length: SHARDS }, () => perShard)
      const names = Array.from({ length: accounts }, (_, index) => `account-${index}`)
      await workThrough(names, (id) => hs.accounts.create({ id, name: id, realm: `${id}.example.com` }))
      const uri = `http://127.0.0.1:${port}/hooks`
      const make = async (accountId) => {
        while (kept.length < SHARDS * perShard) {
          const { id } = await hs.webhooks.create(accountId, { name: 'bench', uri, hook: HOOK })
          if (room[shardOf(id)] > 0) {
            room[shardOf(id)] -= 1
            kept.push({ id, accountId })
          } else await hs.webhooks.remove(accountId, id)
        }
      }
      await workThrough(names, make)
      return kept
    },
  },
  () => hs?.close({ drainMs: 0 }),
)
