import { manualClock, seededRandom } from 'hookswitch/testkit'
import { errorCode } from '../../src/errors.js'
import { memoryStore } from '../../src/store/memory.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { createSecretCipher } from '../../src/values/encryption.js'
import { createIdGenerator } from '../../src/values/ids.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import type { WebhookDeps } from '../../src/webhooks/manage.js'
import type { WebhookStore } from '../../src/webhooks/webhook-store.js'
import { silentLog } from '../delivery/harness.js'

export const A = 'acc'
export const settings = { name: 'n', uri: 'https://example.com/', hook: 'all' }
export const headers = { Authorization: 'Bearer hidden-in-a-header' }

/** Creates the dependencies of the webhook operations over a memory store. */
export async function createWebhookHarness() {
  const clock = manualClock()
  const random = seededRandom('manage')
  const store = memoryStore()
  await store.open({ clock, log: silentLog })
  /** Every webhook that was written to the store. */
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
  const deps: WebhookDeps = {
    webhooks,
    clock,
    random,
    cipher: createSecretCipher(['the secret of the service']),
    newId: createIdGenerator(random.bytes),
    storeNow: clock.now,
    defaultMaxAgeSeconds: 86_400,
    lastSuccesses: store.deliveries.lastSuccesses,
    rules: {
      catalogue: catalogueOf(),
      addressPolicy: compileAddressPolicy({ allowLocal: false, allow: [] }),
      defaultFormat: 'json',
    },
  }
  return { clock, deps, written, stored: store.webhooks }
}

export type WebhookHarness = Awaited<ReturnType<typeof createWebhookHarness>>

/** The error code with which a promise rejects, or 'no error'. */
export const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (thrown: unknown) => errorCode(thrown),
  )
