import { manualClock, seededRandom } from 'hookswitch/testkit'
import { errorCode } from '../../src/errors.js'
import { memoryStore } from '../../src/store/memory.js'
import { compilePolicy } from '../../src/values/address-policy.js'
import { idMaker } from '../../src/values/ids.js'
import { secretBox } from '../../src/values/seal.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import type { WebhookDoors } from '../../src/webhooks/manage.js'
import type { WebhookStore } from '../../src/webhooks/webhook-store.js'
import { silent } from '../delivery/world.js'

export const A = 'acc'
export const settings = { name: 'n', uri: 'https://example.com/', hook: 'all' }
export const headers = { Authorization: 'Bearer hidden-in-a-header' }

/** The doors of webhooks over a memory store, and all that it was given. */
export async function manageWorld() {
  const clock = manualClock()
  const random = seededRandom('manage')
  const store = memoryStore()
  await store.open({ clock, log: silent })
  /** Everything that the store was given. */
  const written: unknown[] = []
  const webhooks: WebhookStore = {
    ...store.webhooks,
    async insert(webhook) {
      written.push(webhook)
      return store.webhooks.insert(webhook)
    },
    async replace(webhook, revision) {
      written.push(webhook)
      return store.webhooks.replace(webhook, revision)
    },
  }
  const doors: WebhookDoors = {
    webhooks,
    clock,
    random,
    box: secretBox(['the secret of the service']),
    newId: idMaker(random.bytes),
    rules: {
      catalogue: catalogueOf(),
      policy: compilePolicy({ allowLocal: false, allow: [] }),
      defaultFormat: 'json',
    },
  }
  return { clock, doors, written, stored: store.webhooks }
}

export type ManageWorld = Awaited<ReturnType<typeof manageWorld>>

/** What a promise rejects with, as a code. */
export const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (thrown: unknown) => errorCode(thrown),
  )
