import type { OperationId } from '../../wire/routes.js'
import { listAttempts, listCallAttempts, listWebhookAttempts } from './attempts.js'
import { readApiKey, rotateApiKey, signInByApiKey, signInByCredentials, signOut } from './auth.js'
import { listHooks, listSamples, readOpenapi, readSample } from './catalogue.js'
import {
  readSecret,
  reenableDescendantWebhooks,
  reenableWebhooks,
  replayWebhook,
  rotateSecret,
  testWebhook,
} from './commands.js'
import type { Operation } from './context.js'
import { listDeliveries, readDelivery } from './deliveries.js'
import { publishEvents } from './events.js'
import { listUnhealthyWebhooks, searchDeliveries } from './system.js'
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  patchWebhook,
  readWebhook,
  replaceWebhook,
} from './webhooks.js'

/** The implementation of each operation in the route table. */
export const OPERATIONS: Readonly<Record<OperationId, Operation>> = {
  signInByApiKey,
  signInByCredentials,
  signOut,
  readApiKey,
  rotateApiKey,
  listHooks,
  listSamples,
  readSample,
  listWebhooks,
  createWebhook,
  reenableWebhooks,
  reenableDescendantWebhooks,
  listAttempts,
  readWebhook,
  replaceWebhook,
  patchWebhook,
  deleteWebhook,
  listWebhookAttempts,
  testWebhook,
  replayWebhook,
  listDeliveries,
  readSecret,
  rotateSecret,
  readDelivery,
  listCallAttempts,
  publishEvents,
  listUnhealthyWebhooks,
  searchDeliveries,
  readOpenapi,
}
