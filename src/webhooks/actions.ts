/** What operators do to many webhooks at once. Pure. */
import type { UnhealthyState } from './manage.js'

/** `resume`: ends pauses. `reenable`: enables what the service disabled. */
export type WebhookAction = 'resume' | 'reenable'
export const WEBHOOK_ACTIONS: readonly WebhookAction[] = ['resume', 'reenable']

/** The states that an action changes. */
export const STATES_OF: Readonly<Record<WebhookAction, readonly UnhealthyState[]>> = {
  resume: ['paused'],
  reenable: ['disabled'],
}
