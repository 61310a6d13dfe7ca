/** How settlements and edits change the row of a webhook. */
import type { Settlement } from '../../delivery/delivery-store.js'
import { disableWebhook, healthAfterChange, type Webhook } from '../../webhooks/webhook.js'

/**
 * The webhook after a settlement's change of health, or its disabling. Returns the same object when nothing changes,
 * for instance when the webhook has another epoch meanwhile.
 */
export function applyEndpointChange(webhook: Webhook, change: Settlement['endpoint']): Webhook {
  if (!change || change.epoch !== webhook.epoch) return webhook
  const { health: before, ...clean } = webhook
  const health = change.health === undefined ? before : (change.health ?? undefined)
  const after = health === before ? webhook : health === undefined ? clean : { ...clean, health }
  return change.disable && after.settings.enabled ? disableWebhook(after, change.disable) : after
}

/**
 * The row that `replace` writes. Health belongs to the store and changes without a new revision, so the stored health
 * stays as far as `healthAfterChange` says, and that of `next` is ignored.
 */
export function applyReplacement(stored: Webhook, next: Webhook): Webhook {
  const { health: _stale, ...row } = next
  const health = healthAfterChange(stored, next)
  return health ? { ...row, health } : row
}
