/** Creating, reading, changing and deleting webhooks, and their signing secrets. */
import type { PageQuery } from '../accounts/account-store.js'
import type { KeyedMutex } from '../accounts/keyed-mutex.js'
import { errorCode, HookswitchError, invalidInput, notFound } from '../errors.js'
import type { Clock } from '../ports.js'
import { toCanonicalJson } from '../values/canonical-json.js'
import { jsonMergePatch } from '../values/json-merge-patch.js'
import { yieldingOf } from '../values/yielding.js'
import { createSigningSecret, type EncryptSettingsDeps, encryptSettings } from './encrypt-settings.js'
import { unmaskHeaders } from './header-mask.js'
import { type EndpointState, endpointHealthOf, isPaused, isProbed } from './health.js'
import { isSettingName } from './settings.js'
import { decryptHeaders, encryptionPurpose, type UncheckedWebhook, viewOf, type WebhookView } from './view.js'
import {
  changeSettings,
  deleteWebhook,
  encryptedSettingsOf,
  resumeWebhook as endPauseOf,
  newWebhook,
  rotateSecret,
  type Webhook,
} from './webhook.js'
import type { WebhookStore } from './webhook-store.js'

/** Dependencies of the webhook operations. */
export interface WebhookDeps extends EncryptSettingsDeps {
  readonly webhooks: WebhookStore
  readonly clock: Clock
  newId(): string
  /** Store time, ms. */
  storeNow(): number
  /** Maximum age of the deliveries of webhooks that set none, in seconds. */
  readonly defaultMaxAgeSeconds: number
  /** Times of the last successes of these webhooks, Unix ms; those without one are missing. */
  lastSuccesses(webhookIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * Serialises the changes of one webhook on this node. Without it they race and the losers retry: of a hundred
   * concurrent changes most would give up with `RevisionConflict`, although no caller passed a revision.
   */
  readonly mutex?: KeyedMutex
  /** Called after a webhook was created (`before` absent) or changed. */
  onChanged?(before: Webhook | undefined, after: Webhook): void
  /** Called after a webhook was disabled or deleted, which cancels its pending deliveries. */
  onDeliveriesCancelled?(webhookId: string): void
  /** Called after the pause of a webhook was ended. */
  onResumed?(webhook: Pick<Webhook, 'id' | 'accountId'>): void
}

/** `revision`: change the webhook only if it still has this revision, else reject with `RevisionConflict`. */
export interface ChangeOptions {
  /** The expected revision. Default: change any revision. */
  readonly revision?: number | undefined
}

/** How long a rotated-out secret keeps signing: a day. @internal */
export const SECRET_OVERLAP_MS = 86_400_000
/** How often a change is retried after concurrent changes by others. */
const MAX_TRIES = 20

/** Reads the stored webhook. @throws `NotFound` */
export async function findWebhook(
  deps: Pick<WebhookDeps, 'webhooks'>,
  accountId: string,
  webhookId: string,
): Promise<Webhook> {
  const webhook = await deps.webhooks.read(accountId, webhookId)
  if (!webhook) throw notFound(webhookId, 'webhook')
  return webhook
}

/** Reads, decides and replaces; retries when another node changed the webhook in between. */
function change(
  deps: WebhookDeps,
  accountId: string,
  webhookId: string,
  options: ChangeOptions,
  decide: (webhook: Webhook) => Webhook,
): Promise<Webhook> {
  const run = async () => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const webhook = await findWebhook(deps, accountId, webhookId)
      if (options.revision !== undefined && options.revision !== webhook.revision) break
      const changed = decide(webhook)
      if (changed === webhook) return webhook
      if (await deps.webhooks.replace(changed, webhook.revision)) {
        if (changed.epoch > webhook.epoch) deps.onDeliveriesCancelled?.(webhookId)
        deps.onChanged?.(webhook, changed)
        return changed
      }
    }
    throw new HookswitchError('RevisionConflict', `webhook ${webhookId} was changed concurrently`, {
      id: webhookId,
    })
  }
  return deps.mutex ? deps.mutex(webhookId, run) : run()
}

function toView(deps: WebhookDeps, webhook: Webhook, now: number, lastSuccessMs?: number): WebhookView {
  return viewOf(webhook, deps.cipher, deps.defaultMaxAgeSeconds, now, lastSuccessMs)
}

async function viewsOf(deps: WebhookDeps, webhooks: readonly Webhook[]): Promise<readonly WebhookView[]> {
  const successes = webhooks.length === 0 ? undefined : await deps.lastSuccesses(webhooks.map(({ id }) => id))
  const now = deps.storeNow()
  return mapInSlices(deps, webhooks, (webhook) => toView(deps, webhook, now, successes?.get(webhook.id)))
}

/** Webhooks between two checks whether the work has taken too long: their headers are decrypted. */
const WEBHOOKS_PER_CHECK = 64

async function mapInSlices<Item>(
  { clock }: Pick<WebhookDeps, 'clock'>,
  webhooks: readonly Webhook[],
  toItem: (webhook: Webhook) => Item,
): Promise<readonly Item[]> {
  const items: Item[] = []
  for (const webhook of webhooks) {
    if (items.length % WEBHOOKS_PER_CHECK === WEBHOOKS_PER_CHECK - 1)
      await yieldingOf(clock).whenDue(webhook.accountId)
    items.push(toItem(webhook))
  }
  return items
}

const readView = async (deps: WebhookDeps, webhook: Webhook) => (await viewsOf(deps, [webhook]))[0]!

/** The input with the stored value of each header that is masked. @throws `InvalidInput` for a mask without one */
function unmask(deps: WebhookDeps, input: UncheckedWebhook, webhook?: Webhook): UncheckedWebhook {
  const unmasked = unmaskHeaders(input.settings, webhook && decryptHeaders(webhook, deps.cipher))
  if ('failures' in unmasked) throw invalidInput(unmasked.failures)
  return unmasked.settings === input.settings ? input : { ...input, ...unmasked }
}

/** Creates a webhook with a new signing secret. @throws `InvalidInput` with every violated rule */
export async function createWebhook(
  deps: WebhookDeps,
  accountId: string,
  input: UncheckedWebhook,
): Promise<WebhookView> {
  const id = deps.newId()
  const encrypted = encryptSettings(deps, id, unmask(deps, input))
  const { secret } = createSigningSecret(deps, id)
  const webhook = newWebhook({ id, accountId }, encrypted, secret, Math.floor(deps.storeNow()))
  await deps.webhooks.insert(webhook)
  deps.onChanged?.(undefined, webhook)
  return toView(deps, webhook, deps.storeNow())
}

/** Lists an account's webhooks, sorted by name, then id. */
export async function listWebhooks(deps: WebhookDeps, accountId: string): Promise<readonly WebhookView[]> {
  return viewsOf(deps, await deps.webhooks.list([accountId]))
}

/** One page of the same, without the times of the last successes, which cost one lookup per webhook. */
export async function pageWebhooks(
  deps: WebhookDeps,
  accountId: string,
  query: PageQuery,
): Promise<readonly WebhookView[]> {
  // A long list with a filter is read in many pages: other work runs between them.
  if (query.after) await deps.clock.yield()
  const now = deps.storeNow()
  return mapInSlices(deps, await deps.webhooks.page(accountId, query), (webhook) =>
    toView(deps, webhook, now),
  )
}

/** Webhooks read from the store at once. */
const BATCH_SIZE = 500

/** States of a webhook that need somebody's attention. */
export type UnhealthyState = Exclude<EndpointState, 'ok'>

/** Selects webhooks that need attention. All given conditions must hold. */
export interface UnhealthySelection {
  /** Only webhooks in these states. Default: all of them. */
  readonly states?: readonly UnhealthyState[] | undefined
  /** Only webhooks of this account, without those below it. Default: all accounts. */
  readonly accountId?: string | undefined
  /** Only webhooks whose URL has this host, in canonical form, with or without its port. Default: any. */
  readonly host?: string | undefined
  /** Only webhooks in trouble since this time or a later one (`troubledSinceMs`), Unix ms. Default: any. */
  readonly sinceMs?: number | undefined
  /** Only webhooks in trouble since this time or an earlier one, Unix ms. Default: any. */
  readonly untilMs?: number | undefined
}

/** Which webhooks to list. */
export interface UnhealthyRequest extends UnhealthySelection {
  /** Maximum number of webhooks. */
  readonly limit: number
  /** Only webhooks with a greater id: the last one of the previous page. Default: from the start. */
  readonly afterId?: string | undefined
}

/** Since when events do not arrive: the first failure since the last success, or the end of a webhook that did not fail. */
export const troubledSinceMs = ({ health, disabledMs }: Webhook): number | undefined =>
  health?.failingSinceMs ?? health?.pause?.sinceMs ?? disabledMs

function isSelected(webhook: Webhook, selection: UnhealthySelection, now: number): boolean {
  const { states, accountId, host, sinceMs, untilMs } = selection
  const { state } = endpointHealthOf(webhook, now)
  // A store may return others beside those with a problem.
  if (state === 'ok' || (!webhook.health && webhook.disableReason === undefined)) return false
  if (states && !states.includes(state)) return false
  if (accountId !== undefined && webhook.accountId !== accountId) return false
  const troubledMs = troubledSinceMs(webhook) ?? now
  if ((sinceMs !== undefined && troubledMs < sinceMs) || (untilMs !== undefined && troubledMs > untilMs))
    return false
  return host === undefined || hasHost(webhook, host)
}

/** Whether the URL of a webhook has this host, in canonical form: `crm.example.com` on any port, `127.0.0.1:8080`. */
export function hasHost({ settings }: Pick<Webhook, 'settings'>, host: string): boolean {
  const url = new URL(settings.uri)
  return url.host === host || url.hostname === host
}

/** One page of unhealthy webhooks. */
interface UnhealthyPage {
  /** The webhooks, sorted by id. */
  readonly webhooks: readonly WebhookView[]
  /** `afterId` of the next page; absent: there are no more. */
  readonly nextId?: string
}

/** Lists the webhooks of all accounts that fail, are paused, or were disabled by the service; sorted by id. */
export async function listUnhealthy(deps: WebhookDeps, request: UnhealthyRequest): Promise<UnhealthyPage> {
  const { webhooks, ...next } = await findUnhealthy(deps, request)
  return { webhooks: await viewsOf(deps, webhooks), ...next }
}

/** The same, as stored. */
export async function findUnhealthy(
  deps: Pick<WebhookDeps, 'webhooks' | 'storeNow'>,
  { limit, afterId: firstId, ...selection }: UnhealthyRequest,
): Promise<{ readonly webhooks: readonly Webhook[]; readonly nextId?: string }> {
  const found: Webhook[] = []
  let afterId = firstId
  for (;;) {
    const batch = await deps.webhooks.unhealthy(BATCH_SIZE, afterId)
    for (const webhook of batch) {
      if (!isSelected(webhook, selection, deps.storeNow())) continue
      if (found.length === limit) return { webhooks: found, nextId: found.at(-1)!.id }
      found.push(webhook)
    }
    if (batch.length < BATCH_SIZE) return { webhooks: found }
    afterId = batch.at(-1)!.id
  }
}

/** Reads one webhook. @throws `NotFound` */
export async function readWebhook(
  deps: WebhookDeps,
  accountId: string,
  webhookId: string,
): Promise<WebhookView> {
  return readView(deps, await findWebhook(deps, accountId, webhookId))
}

/**
 * Replaces all settings. Omitted settings get their defaults, so omitting `enabled` enables the webhook.
 *
 * @throws `NotFound`, `InvalidInput`, `RevisionConflict`
 */
export async function replaceWebhook(
  deps: WebhookDeps,
  accountId: string,
  webhookId: string,
  input: UncheckedWebhook,
  options: ChangeOptions = {},
): Promise<WebhookView> {
  const encrypted = encryptSettings(deps, webhookId, input)
  const now = Math.floor(deps.storeNow())
  const changed = await change(deps, accountId, webhookId, options, (webhook) => {
    const unmasked = unmask(deps, input, webhook)
    return changeSettings(
      webhook,
      unmasked === input ? encrypted : encryptSettings(deps, webhookId, unmasked),
      now,
    )
  })
  return readView(deps, changed)
}

type Settings = Readonly<Record<string, unknown>>

/** Merged as RFC 7396 says, except for the filter, which is replaced: parts of two filters make no filter. */
function patchSettings(settings: Settings, patch: Settings): Settings {
  const merged = jsonMergePatch(settings, patch) as Settings
  const { filter } = patch
  return filter === undefined || filter === null ? merged : { ...merged, filter }
}

/**
 * Merges a patch into the settings (RFC 7396; a filter is replaced), then validates the result.
 *
 * @throws `NotFound`, `InvalidInput`, `RevisionConflict`
 */
export async function patchWebhook(
  deps: WebhookDeps,
  accountId: string,
  webhookId: string,
  patch: UncheckedWebhook,
  options: ChangeOptions = {},
): Promise<WebhookView> {
  const now = Math.floor(deps.storeNow())
  const changed = await change(deps, accountId, webhookId, options, (webhook) => {
    const { extra, ...view } = toView(deps, webhook, now)
    const settings = Object.fromEntries(Object.entries(view).filter(([key]) => isSettingName(key)))
    const merged: UncheckedWebhook = {
      settings: patchSettings(settings, unmask(deps, patch, webhook).settings),
      extra: jsonMergePatch(extra ?? {}, patch.extra === undefined ? {} : patch.extra) as Settings | null,
    }
    const encrypted = encryptSettings(deps, webhookId, merged)
    // Unchanged headers keep their ciphertext: a patch that does not touch them does not rewrite them, and a patch
    // under a service secret that cannot decrypt them does not lose them.
    const hasSameHeaders =
      toCanonicalJson(merged.settings.customRequestHeaders) === toCanonicalJson(settings.customRequestHeaders)
    const headers =
      hasSameHeaders && webhook.sealedHeaders !== undefined ? { sealedHeaders: webhook.sealedHeaders } : {}
    return changeSettings(webhook, { ...encrypted, ...headers }, now)
  })
  return readView(deps, changed)
}

/**
 * Deletes a webhook. Its pending deliveries are cancelled; its attempts stay readable.
 *
 * @returns the webhook, marked as deleted
 * @throws `NotFound`, `RevisionConflict`
 */
export async function removeWebhook(
  deps: WebhookDeps,
  accountId: string,
  webhookId: string,
  options: ChangeOptions = {},
): Promise<WebhookView> {
  const now = Math.floor(deps.storeNow())
  const deleted = await change(deps, accountId, webhookId, options, (webhook) => deleteWebhook(webhook, now))
  return readView(deps, deleted)
}

/**
 * Enables the webhooks of these accounts that the service disabled, but not those that their owner disabled. Resolves
 * to their number.
 */
export async function reenableWebhooks(deps: WebhookDeps, accountIds: readonly string[]): Promise<number> {
  let count = 0
  for (const webhook of await deps.webhooks.list(accountIds)) {
    if (!isAutoDisabled(webhook)) continue
    await yieldingOf(deps.clock).whenDue(webhook.accountId)
    if (await reenableWebhook(deps, webhook)) count++
  }
  return count
}

/**
 * Enables a webhook that the service disabled.
 *
 * @param isWanted decides with the newest row. Default: always
 * @returns whether it was changed; false also if it is gone
 */
export function reenableWebhook(
  deps: WebhookDeps,
  webhook: Pick<Webhook, 'id' | 'accountId'>,
  isWanted: (webhook: Webhook) => boolean = () => true,
): Promise<boolean> {
  const now = Math.floor(deps.storeNow())
  return changeIf(
    deps,
    webhook,
    (found) => isAutoDisabled(found) && isWanted(found),
    (found) => {
      const settings = { ...found.settings, enabled: true }
      return changeSettings(found, { ...encryptedSettingsOf(found), settings }, now)
    },
  )
}

/** As `change`, where `mayChange`. @returns whether it was changed; false also if it is gone */
async function changeIf(
  deps: WebhookDeps,
  { id, accountId }: Pick<Webhook, 'id' | 'accountId'>,
  mayChange: (webhook: Webhook) => boolean,
  toNext: (webhook: Webhook) => Webhook,
): Promise<boolean> {
  let isChanged = false
  try {
    await change(deps, accountId, id, {}, (webhook) => {
      isChanged = mayChange(webhook)
      return isChanged ? toNext(webhook) : webhook
    })
  } catch (thrown) {
    // It may have been deleted since it was listed.
    if (errorCode(thrown) !== 'NotFound') throw thrown
    return false
  }
  return isChanged
}

/**
 * Ends the pause of a webhook, so that its waiting deliveries are sent now, one at a time until the receiver takes one. Changes nothing if the webhook is not paused.
 *
 * @throws `NotFound`, `Conflict` for a webhook that is disabled
 */
export async function resumeWebhook(
  deps: WebhookDeps,
  accountId: string,
  webhookId: string,
): Promise<WebhookView> {
  const { settings } = await findWebhook(deps, accountId, webhookId)
  if (!settings.enabled)
    throw new HookswitchError('Conflict', 'the webhook is disabled', { field: 'enabled' })
  await endPauseIf(deps, { id: webhookId, accountId })
  return readWebhook(deps, accountId, webhookId)
}

/**
 * Ends the pause of a webhook. A pause goes on while its probe is under way.
 *
 * @param isWanted decides with the newest row. Default: always
 * @returns whether it was paused, and is not any more; false also if it is gone
 */
export async function endPauseIf(
  deps: WebhookDeps,
  webhook: Pick<Webhook, 'id' | 'accountId'>,
  isWanted: (webhook: Webhook) => boolean = () => true,
): Promise<boolean> {
  const isEnded = await changeIf(
    deps,
    webhook,
    (found) =>
      found.settings.enabled &&
      (isProbed(found.health) || isPaused(found.health, deps.storeNow())) &&
      isWanted(found),
    endPauseOf,
  )
  if (isEnded) deps.onResumed?.(webhook)
  return isEnded
}

/** Whether the service disabled it, and not its owner. */
function isAutoDisabled(webhook: Webhook): boolean {
  return !webhook.settings.enabled && webhook.disableReason !== undefined
}

/**
 * Reads the current signing secret, `whsec_…`.
 *
 * @throws `NotFound`; `Internal` when none of the service secrets decrypts it
 */
export async function readSigningSecret(
  deps: WebhookDeps,
  accountId: string,
  webhookId: string,
): Promise<string> {
  const webhook = await findWebhook(deps, accountId, webhookId)
  const secret = deps.cipher.decrypt(webhook.secrets[0]!.sealed, encryptionPurpose.secret(webhookId))
  if (secret === undefined)
    throw new HookswitchError(
      'Internal',
      'the signing secret cannot be decrypted: was the service secret changed?',
    )
  return secret
}

/** Sets a new signing secret and returns it. The previous one keeps signing for 24 h. @throws `NotFound` */
export async function rotateSigningSecret(
  deps: WebhookDeps,
  accountId: string,
  webhookId: string,
): Promise<string> {
  const { text, secret } = createSigningSecret(deps, webhookId)
  // Requests are signed with the time of day.
  const now = deps.clock.now()
  await change(deps, accountId, webhookId, {}, (webhook) =>
    rotateSecret(webhook, secret, now, SECRET_OVERLAP_MS),
  )
  return text
}
