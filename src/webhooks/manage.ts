import type { InTurn } from '../accounts/turns.js'
import { errorCode, HookswitchError, notFound } from '../errors.js'
import type { Clock } from '../ports.js'
import { canonicalJson } from '../values/canonical-json.js'
import { mergePatch } from './merge.js'
import { makeSecret, type SealDoors, sealSettings } from './sealing.js'
import { isSetting } from './settings.js'
import { sealPurpose, viewOf, type WebhookInput, type WebhookView } from './view.js'
import {
  changeSettings,
  deletedWebhook,
  newWebhook,
  rotateSecret,
  sealedOf,
  type Webhook,
} from './webhook.js'
import type { WebhookStore } from './webhook-store.js'

export interface WebhookDoors extends SealDoors {
  readonly webhooks: WebhookStore
  readonly clock: Clock
  newId(): string
  /**
   * Lets changes of one webhook take turns on this node. Absent: they race, and who lost begins again, so that of a
   * hundred at once most would give up although nobody asked for a revision.
   */
  readonly inTurn?: InTurn
  /** Told after a webhook was disabled or deleted: what is pending of it is cancelled. */
  withdrawn?(webhookId: string): void
}

/** `revision`: only if it still has this one, else `RevisionConflict`. */
export interface ChangeOptions {
  readonly revision?: number
}

/** A secret that was rotated away signs along for a day. */
export const SECRET_OVERLAP_MS = 86_400_000
/** Changes by others that one change outlasts before it gives up. */
const MAX_ROUNDS = 20

async function find(doors: WebhookDoors, accountId: string, webhookId: string): Promise<Webhook> {
  const webhook = await doors.webhooks.read(accountId, webhookId)
  if (!webhook) throw notFound(webhookId)
  return webhook
}

/** Reads, decides, replaces; begins again when another node was faster. */
function change(
  doors: WebhookDoors,
  accountId: string,
  webhookId: string,
  options: ChangeOptions,
  decide: (webhook: Webhook) => Webhook,
): Promise<Webhook> {
  const rounds = () => changeInRounds(doors, accountId, webhookId, options, decide)
  return doors.inTurn ? doors.inTurn(webhookId, rounds) : rounds()
}

async function changeInRounds(
  doors: WebhookDoors,
  accountId: string,
  webhookId: string,
  options: ChangeOptions,
  decide: (webhook: Webhook) => Webhook,
): Promise<Webhook> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const webhook = await find(doors, accountId, webhookId)
    if (options.revision !== undefined && options.revision !== webhook.revision) break
    const changed = decide(webhook)
    if (changed === webhook) return webhook
    if (await doors.webhooks.replace(changed, webhook.revision)) {
      if (changed.epoch > webhook.epoch) doors.withdrawn?.(webhookId)
      return changed
    }
  }
  throw new HookswitchError('RevisionConflict', `webhook ${webhookId} was changed by somebody else`, {
    id: webhookId,
  })
}

/** @throws `InvalidInput` with every broken rule */
export async function createWebhook(
  doors: WebhookDoors,
  accountId: string,
  input: WebhookInput,
): Promise<WebhookView> {
  const id = doors.newId()
  const sealed = sealSettings(doors, id, input)
  const webhook = newWebhook({ id, accountId }, sealed, makeSecret(doors, id).secret, doors.clock.now())
  await doors.webhooks.insert(webhook)
  return viewOf(webhook, doors.box)
}

/** An account's webhooks, sorted by name, then id. */
export async function listWebhooks(doors: WebhookDoors, accountId: string): Promise<readonly WebhookView[]> {
  return (await doors.webhooks.list([accountId])).map((webhook) => viewOf(webhook, doors.box))
}

/** @throws `NotFound` */
export async function readWebhook(
  doors: WebhookDoors,
  accountId: string,
  webhookId: string,
): Promise<WebhookView> {
  const webhook = await doors.webhooks.read(accountId, webhookId)
  if (!webhook) throw notFound(webhookId)
  return viewOf(webhook, doors.box)
}

/**
 * Replaces all settings: what is left out has its default again, so leaving out `enabled` enables.
 *
 * @throws `NotFound`, `InvalidInput`, `RevisionConflict`
 */
export async function replaceWebhook(
  doors: WebhookDoors,
  accountId: string,
  webhookId: string,
  input: WebhookInput,
  options: ChangeOptions = {},
): Promise<WebhookView> {
  const sealed = sealSettings(doors, webhookId, input)
  const now = doors.clock.now()
  const changed = await change(doors, accountId, webhookId, options, (webhook) =>
    changeSettings(webhook, sealed, now),
  )
  return viewOf(changed, doors.box)
}

/**
 * Merges a patch into the settings (RFC 7396), then validates the whole.
 *
 * @throws `NotFound`, `InvalidInput`, `RevisionConflict`
 */
export async function patchWebhook(
  doors: WebhookDoors,
  accountId: string,
  webhookId: string,
  patch: WebhookInput,
  options: ChangeOptions = {},
): Promise<WebhookView> {
  const now = doors.clock.now()
  const changed = await change(doors, accountId, webhookId, options, (webhook) => {
    const { extra, ...view } = viewOf(webhook, doors.box)
    const settings = Object.fromEntries(Object.entries(view).filter(([key]) => isSetting(key)))
    const merged: WebhookInput = {
      settings: mergePatch(settings, patch.settings) as Record<string, unknown>,
      extra: mergePatch(extra ?? {}, patch.extra ?? {}) as Record<string, unknown>,
    }
    const sealed = sealSettings(doors, webhookId, merged)
    // The same headers keep their ciphertext, so that a patch that changes nothing stores nothing new of them.
    const sameHeaders =
      canonicalJson(merged.settings.customRequestHeaders) === canonicalJson(settings.customRequestHeaders)
    const kept =
      sameHeaders && webhook.sealedHeaders !== undefined ? { sealedHeaders: webhook.sealedHeaders } : {}
    return changeSettings(webhook, { ...sealed, ...kept }, now)
  })
  return viewOf(changed, doors.box)
}

/**
 * Deletes a webhook; what is pending for it is cancelled, its attempts stay readable.
 *
 * @returns the webhook as it was
 * @throws `NotFound`, `RevisionConflict`
 */
export async function removeWebhook(
  doors: WebhookDoors,
  accountId: string,
  webhookId: string,
  options: ChangeOptions = {},
): Promise<WebhookView> {
  const now = doors.clock.now()
  const deleted = await change(doors, accountId, webhookId, options, (webhook) =>
    deletedWebhook(webhook, now),
  )
  return viewOf(deleted, doors.box)
}

/** Enables again what the service disabled, in all these accounts; webhooks that their owner disabled stay so. */
export async function reenableWebhooks(doors: WebhookDoors, accountIds: readonly string[]): Promise<number> {
  const now = doors.clock.now()
  const found = (await doors.webhooks.list(accountIds)).filter(isAutoDisabled)
  let count = 0
  for (const { accountId, id } of found) {
    let enabled = false
    try {
      await change(doors, accountId, id, {}, (webhook) => {
        enabled = isAutoDisabled(webhook)
        if (!enabled) return webhook
        const settings = { ...webhook.settings, enabled }
        return changeSettings(webhook, { ...sealedOf(webhook), settings }, now)
      })
      if (enabled) count++
    } catch (thrown) {
      // Deleted since it was listed.
      if (errorCode(thrown) !== 'NotFound') throw thrown
    }
  }
  return count
}

function isAutoDisabled(webhook: Webhook): boolean {
  return !webhook.settings.enabled && webhook.disableReason !== undefined
}

/** The current signing secret, `whsec_…`. @throws `NotFound` */
export async function readSigningSecret(
  doors: WebhookDoors,
  accountId: string,
  webhookId: string,
): Promise<string> {
  const webhook = await find(doors, accountId, webhookId)
  const secret = doors.box.open(webhook.secrets[0]!.sealed, sealPurpose.secret(webhookId))
  if (secret === undefined)
    throw new HookswitchError(
      'Internal',
      'the signing secret cannot be opened: was the service secret changed?',
    )
  return secret
}

/** A new signing secret; the one before signs along for 24 h. @throws `NotFound` */
export async function rotateSigningSecret(
  doors: WebhookDoors,
  accountId: string,
  webhookId: string,
): Promise<string> {
  const { text, secret } = makeSecret(doors, webhookId)
  const now = doors.clock.now()
  await change(doors, accountId, webhookId, {}, (webhook) =>
    rotateSecret(webhook, secret, now, SECRET_OVERLAP_MS),
  )
  return text
}
