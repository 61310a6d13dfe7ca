/** Audit records of calls of the host, which have no client: what an operation of the HTTP API does is recorded there. */
import type { EventBus } from '../events.js'
import { REDACTED } from '../values/redact.js'
import type { OperationId } from '../wire/routes.js'
import type { AuditDetails, AuditRecord } from './audit.js'
import type { HookswitchEvents } from './core.js'
import type { WebhookJob } from './webhook-job.js'

type Events = Pick<EventBus<HookswitchEvents>, 'emit' | 'hasListeners'>

/** Emits the record of a call that was done. */
export function recordCall(events: Events, action: string, details: () => Partial<AuditRecord>): void {
  if (events.hasListeners('audit')) events.emit('audit', { action, by: 'host', ...details() })
}

// biome-ignore lint/suspicious/noExplicitAny: the arguments and the result of each call of a table.
type Call = (...args: any) => any

/** For methods that change something: the operation that does the same, and what was changed. */
type Calls<Api> = {
  readonly [Name in keyof Api]?: Api[Name] extends Call
    ? readonly [
        OperationId,
        (result: Awaited<ReturnType<Api[Name]>>, ...args: Parameters<Api[Name]>) => AuditDetails,
      ]
    : never
}

/** The same object, whose calls of the table emit a record once they have resolved. */
export function auditCalls<Api extends object>(api: Api, events: Events, calls: Calls<Api>): Api {
  const audited = Object.entries(calls as Record<string, readonly [string, Call]>).map(
    ([name, [action, detailsOf]]) => {
      const call = async (...args: readonly unknown[]) => {
        const result: unknown = await (api as Record<string, Call>)[name]!(...args)
        recordCall(events, action, () => detailsOf(result, ...args))
        return result
      }
      return [name, call] as const
    },
  )
  return { ...api, ...Object.fromEntries(audited) }
}

const account = (_: unknown, accountId: string) => ({ accountId })
const webhook = (_: unknown, accountId: string, webhookId: string) => ({ accountId, webhookId })

export const ACCOUNT_CALLS = {
  create: ['createAccount', ({ id: accountId }: { readonly id: string }) => ({ accountId })],
  update: ['patchAccount', account],
  remove: ['deleteAccount', account],
  addUser: [
    'createUser',
    ({ id: userId }: { readonly id: string }, accountId: string) => ({ accountId, userId }),
  ],
  removeUser: ['deleteUser', (_: unknown, accountId: string, userId: string) => ({ accountId, userId })],
  setPassword: [
    'patchUser',
    (_: unknown, accountId: string, userId: string) => ({
      accountId,
      userId,
      after: { password: REDACTED },
    }),
  ],
  rotateApiKey: ['rotateApiKey', account],
} as const

type StartedJob = Pick<WebhookJob, 'id' | 'action' | 'count' | 'selection'>

/** What the record of a job says: of which account, and what else selects its webhooks. */
export function startedJob({ id: jobId, action, count, selection }: StartedJob): AuditDetails {
  const { accountId, ...rest } = selection
  return { accountId, details: { jobId, action, count, ...rest } }
}

export const JOB_CALLS = {
  start: ['startJob', startedJob],
  set: ['setJob', (_: unknown, jobId: string, state: string) => ({ details: { jobId, state } })],
} as const

export const WEBHOOK_CALLS = {
  create: [
    'createWebhook',
    ({ id: webhookId }: { readonly id: string }, accountId: string) => ({ accountId, webhookId }),
  ],
  replace: ['replaceWebhook', webhook],
  patch: ['patchWebhook', webhook],
  remove: ['deleteWebhook', webhook],
  reenable: [
    'reenableWebhooks',
    (webhooks: number, accountIds: readonly string[]) => ({
      details: { webhooks, accounts: accountIds.length },
    }),
  ],
  rotateSecret: ['rotateSecret', webhook],
  test: [
    'testWebhook',
    (deliveryId: string, accountId: string, webhookId: string) => ({ accountId, webhookId, deliveryId }),
  ],
  replay: [
    'replayWebhook',
    (_: unknown, accountId: string, webhookId: string, deliveryId: string) => ({
      accountId,
      webhookId,
      deliveryId,
    }),
  ],
  resume: ['resumeWebhook', webhook],
} as const
