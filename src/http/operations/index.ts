import { HookswitchError } from '../../errors.js'
import type { Route } from '../../wire/routes.js'
import {
  listAccounts,
  listAncestors,
  listChildren,
  listDescendants,
  listSiblings,
  search,
  searchAccount,
  searchMany,
} from './account-lists.js'
import {
  createAccount,
  createChildAccount,
  deleteAccount,
  eraseRecords,
  listApps,
  moveAccount,
  patchAccount,
  readAccount,
  replaceAccount,
} from './accounts.js'
import { listAttempts, listCallAttempts, listDeliveryAttempts, listWebhookAttempts } from './attempts.js'
import {
  issueToken,
  readApiKey,
  readToken,
  rotateApiKey,
  signInByApiKey,
  signInByCredentials,
  signOut,
} from './auth.js'
import { readCall } from './calls.js'
import { listBindings, listHooks, listSamples, readOpenapi, readSample } from './catalogue.js'
import {
  readSecret,
  reenableDescendantWebhooks,
  reenableWebhooks,
  resumeWebhook,
  rotateSecret,
  testWebhook,
} from './commands.js'
import type { Operation } from './context.js'
import { listDeliveries, readDelivery } from './deliveries.js'
import { matchEvent, publishEvents } from './events.js'
import { lookUp, lookUpAnywhere } from './lookup.js'
import { listReplays, readReplay, replay, setReplay } from './replays.js'
import {
  listEndpoints,
  listUnhealthyWebhooks,
  readAccountStats,
  readWebhookHealth,
  readWebhookStats,
} from './statistics.js'
import { streamItems } from './stream.js'
import { readHolds, readOverview, searchDeliveries, setHold } from './system.js'
import { createUser, deleteUser, listUsers, patchUser, readUser, replaceUser } from './users.js'
import { listJobs, readJob, setJob, startJob } from './webhook-jobs.js'
import {
  checkAddress,
  createWebhook,
  deleteWebhook,
  listWebhooks,
  patchWebhook,
  previewWebhook,
  readWebhook,
  replaceWebhook,
} from './webhooks.js'
import { why, whyAnywhere } from './why.js'

const notImplemented: Operation = async () => {
  throw new HookswitchError('Unsupported', 'not implemented')
}

/** The implementation of each operation in the route table. */
export const OPERATIONS: Readonly<Record<Route['operation'], Operation>> = {
  signInByApiKey,
  signInByCredentials,
  readToken,
  signOut,
  issueToken,
  readApiKey,
  rotateApiKey,
  listHooks,
  listSamples,
  readSample,
  listBindings,
  listWebhooks,
  createWebhook,
  reenableWebhooks,
  reenableDescendantWebhooks,
  listAttempts,
  readAccountStats,
  listEndpoints,
  readWebhookHealth,
  readWebhookStats,
  readWebhook,
  replaceWebhook,
  patchWebhook,
  deleteWebhook,
  listWebhookAttempts,
  testWebhook,
  replayWebhook: replay,
  replayAccount: replay,
  replayAllAccounts: replay,
  listReplays,
  listAllReplays: listReplays,
  readReplay,
  readAnyReplay: readReplay,
  setReplay,
  setAnyReplay: setReplay,
  resumeWebhook,
  previewWebhook,
  checkAddress,
  matchEvent,
  listDeliveries,
  readSecret,
  rotateSecret,
  readDelivery,
  listDeliveryAttempts,
  readCall,
  listCallAttempts,
  publishEvents,
  lookUp,
  lookUpAnywhere,
  why,
  whyAnywhere,
  readOverview,
  readHolds,
  setHold,
  startJob,
  listJobs,
  readJob,
  setJob,
  streamItems,
  listUnhealthyWebhooks,
  searchDeliveries,
  listAccounts,
  createAccount,
  createChildAccount,
  readAccount,
  replaceAccount,
  patchAccount,
  deleteAccount,
  listChildren,
  listDescendants,
  listSiblings,
  listTree: listAncestors,
  listParents: listAncestors,
  listAncestors,
  moveAccount,
  eraseRecords,
  listUsers,
  createUser,
  readUser,
  replaceUser,
  patchUser,
  deleteUser,
  search,
  searchAccount,
  searchMany,
  listApps,
  notImplemented,
  readOpenapi,
}
