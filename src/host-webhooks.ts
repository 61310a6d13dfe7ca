import type { Core } from './core.js'
import type { StoredAttempt } from './delivery/attempt-record.js'
import type { AttemptQuery, DeliveryQuery, StoredDelivery } from './delivery/delivery-queries.js'
import { explainDelivery } from './delivery/explain.js'
import { type ReplayRequest, replayDeliveries } from './delivery/replay.js'
import { sendTest } from './delivery/test-delivery.js'
import { invalidInput, notFound } from './errors.js'
import {
  type ChangeOptions,
  createWebhook,
  listWebhooks,
  patchWebhook,
  readSigningSecret,
  readWebhook,
  reenableWebhooks,
  removeWebhook,
  replaceWebhook,
  rotateSigningSecret,
} from './webhooks/manage.js'
import { isSetting } from './webhooks/settings.js'
import type { WebhookInput, WebhookView } from './webhooks/view.js'
import type { WebhookSettings } from './webhooks/webhook.js'

/** What a host says of a webhook: `name`, `uri` and `hook` are required to create one. */
export type WebhookWish = Partial<WebhookSettings> & {
  /** Keys of the host's own, kept and shown. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** As `WebhookWish`; `null` removes a key (RFC 7396). */
export type WebhookPatch = { readonly [Key in keyof WebhookWish]?: WebhookWish[Key] | null }

type Page = { readonly limit?: number; readonly cursor?: number; readonly ascending?: boolean }
type Range = { readonly fromMs?: number; readonly toMs?: number }

const DEFAULT_LIMIT = 50

/** A page as the store is asked for it. Throws `InvalidInput` naming `limit`. */
function pageOf<Asked extends Page>(asked: Asked): Asked & { readonly limit: number } {
  const { limit = DEFAULT_LIMIT } = asked
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw invalidInput([
      { path: 'limit', rule: 'minimum', message: 'must be a whole number of at least 1', target: 1 },
    ])
  }
  return { ...asked, limit }
}

/** An unknown key is an error that names it: a misspelt field must not vanish. */
function inputOf(wish: WebhookWish | WebhookPatch): WebhookInput {
  if (typeof wish !== 'object' || wish === null || Array.isArray(wish)) {
    throw invalidInput([{ path: '', rule: 'type', message: 'a webhook must be an object', target: 'object' }])
  }
  const { extra, ...settings } = wish
  const unknown = Object.keys(settings).filter((key) => !isSetting(key))
  if (unknown.length > 0) {
    throw invalidInput(
      unknown.map((path) => ({ path, rule: 'error', message: 'is not a field of a webhook' })),
    )
  }
  return { settings, ...(extra && { extra }) }
}

/** The webhooks as the host manages them: it is trusted, nothing is authorized here. */
export function hostWebhooks(core: () => Core, maxPending: number) {
  const doors = () => core().webhooks

  async function read(accountId: string, deliveryId: string): Promise<StoredDelivery> {
    const delivery = await core().store.deliveries.delivery(accountId, deliveryId)
    if (!delivery) throw notFound(deliveryId)
    return delivery
  }

  return {
    /** Makes a webhook. Throws `InvalidInput`, `NotFound` for the account. */
    async create(accountId: string, wish: WebhookWish): Promise<WebhookView> {
      const input = inputOf(wish)
      // A webhook of an account that does not exist would never be called.
      if ((await core().auth.lineages.lineage(accountId)).length === 0) throw notFound(String(accountId))
      return createWebhook(doors(), accountId, input)
    },
    /** An account's webhooks, sorted by name, then id. */
    list: async (accountId: string): Promise<readonly WebhookView[]> => listWebhooks(doors(), accountId),
    /** Throws `NotFound`. */
    read: async (accountId: string, webhookId: string): Promise<WebhookView> =>
      readWebhook(doors(), accountId, webhookId),
    /** Replaces all settings; what is left out has its default. Throws `NotFound`, `InvalidInput`, `RevisionConflict`. */
    replace: async (accountId: string, webhookId: string, wish: WebhookWish, options?: ChangeOptions) =>
      replaceWebhook(doors(), accountId, webhookId, inputOf(wish), options),
    /** Merges (RFC 7396). Throws `NotFound`, `InvalidInput`, `RevisionConflict`. */
    patch: async (accountId: string, webhookId: string, patch: WebhookPatch, options?: ChangeOptions) =>
      patchWebhook(doors(), accountId, webhookId, inputOf(patch), options),
    /** Deletes; pending deliveries are cancelled. The webhook as it was. Throws `NotFound`, `RevisionConflict`. */
    remove: async (accountId: string, webhookId: string, options?: ChangeOptions) =>
      removeWebhook(doors(), accountId, webhookId, options),
    /** Enables what the service disabled in these accounts; how many. */
    reenable: async (accountIds: readonly string[]): Promise<number> => reenableWebhooks(doors(), accountIds),
    /** The signing secret, `whsec_…`. Throws `NotFound`. */
    secret: async (accountId: string, webhookId: string): Promise<string> =>
      readSigningSecret(doors(), accountId, webhookId),
    /** A new signing secret; the old one signs along for 24 h. Throws `NotFound`. */
    rotateSecret: async (accountId: string, webhookId: string): Promise<string> =>
      rotateSigningSecret(doors(), accountId, webhookId),
    /** Sends the sample of its hook now; the delivery's id. Throws `NotFound`, `QueueFull`. */
    async test(accountId: string, webhookId: string): Promise<string> {
      const { accept, store, catalogue } = core()
      const sampleOf = (hook: string) => catalogue.find(({ id }) => id === hook)?.sample[0]
      return sendTest({ ...accept, webhooks: store.webhooks, sampleOf }, accountId, webhookId, maxPending)
    },
    /** Sends ended deliveries again; the new ids. Throws `NotFound`, `Conflict`, `QueueFull`. */
    async replay(accountId: string, webhookId: string, request: ReplayRequest): Promise<readonly string[]> {
      const { accept, store } = core()
      return replayDeliveries({ ...accept, ...store }, accountId, webhookId, request, maxPending)
    },
    /** Recent attempts of one webhook, or of all of the account, newest first. `limit`: default 50. */
    attempts: async (
      accountId: string,
      webhookId?: string,
      options: Page & Range & Pick<AttemptQuery, 'callIds' | 'deliveryId'> = {},
    ): Promise<readonly StoredAttempt[]> =>
      core().store.deliveries.attempts({
        ...pageOf(options),
        accountId,
        ...(webhookId !== undefined && { webhookId }),
      }),
    /** Deliveries of a webhook, newest first. `limit`: default 50. */
    deliveries: async (
      accountId: string,
      webhookId: string,
      options: Page & Range & Pick<DeliveryQuery, 'states'> = {},
    ): Promise<readonly StoredDelivery[]> =>
      core().store.deliveries.deliveries({ ...pageOf(options), accountId, webhookId }),
    /** One delivery. Throws `NotFound`. */
    delivery: async (accountId: string, deliveryId: string): Promise<StoredDelivery> =>
      read(accountId, deliveryId),
    /** One plain sentence: why a delivery is not finished, or how it ended. Throws `NotFound`. */
    async explain(accountId: string, deliveryId: string): Promise<string> {
      return explain(core(), await read(accountId, deliveryId))
    },
  }
}

export type HostWebhooks = ReturnType<typeof hostWebhooks>

/** The explanation of a delivery as things stand now. */
export async function explain(core: Core, delivery: StoredDelivery): Promise<string> {
  const { store, dispatcher, caps } = core
  return explainDelivery(delivery, {
    webhook: await store.deliveries.webhookOf(delivery.webhookId),
    now: dispatcher.now(),
    fullAt: dispatcher.fullAt(delivery.webhookId),
    caps,
  })
}
