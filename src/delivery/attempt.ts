import type {
  Clock,
  DefaultSender,
  Dialled,
  Observation,
  Sender,
  SendRequest,
  Span,
  Tracing,
} from '../ports.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { AttemptResult } from './attempt-record.js'
import { buildRequest, type EndpointSecrets, type SendableDelivery } from './request.js'

export interface AttemptDeps {
  readonly clock: Clock
  readonly sender: Sender
  readonly tracing?: Tracing | undefined
  /** The decrypted secrets and headers of a webhook. */
  endpointSecrets(webhook: Webhook): EndpointSecrets
}

/**
 * Sends the request of a delivery and passes the result to `onEnd`, once. If the sender throws or returns no valid
 * observation, the result is an internal fault (`own_fault`).
 *
 * @param onEnd may be called before `attempt` returns; must not throw
 * @throws when no request can be built; `onEnd` is not called then
 */
export function attempt(
  deps: AttemptDeps,
  delivery: SendableDelivery,
  webhook: Webhook,
  deadlineMs: number,
  onEnd: (result: AttemptResult) => void,
): void {
  const { clock, sender } = deps
  const sentMs = clock.now()
  const started = clock.monotonic()
  const number = delivery.attempts + 1
  const secrets = deps.endpointSecrets(webhook)
  const span = deps.tracing?.begin('attempt', delivery.traceparent, spanAttributes(delivery, number))
  let request: SendRequest
  try {
    const traceparent = span?.traceparent ?? delivery.traceparent
    request = buildRequest(delivery, webhook, secrets, number, sentMs, deadlineMs, traceparent)
  } catch (thrown) {
    span?.end({}, 'own_fault')
    throw thrown
  }
  const end = (observation: Observation, dialled?: Dialled): void => {
    if (span) endSpan(span, request, observation)
    onEnd({ request, observation, dialled, sentMs, durationMs: clock.monotonic() - started })
  }
  // Never send unsigned: the receiver would refuse it, and the webhook would be charged for our lost key.
  if (webhook.secrets.length > 0 && secrets.keys.length === 0) end(SECRET_UNREADABLE)
  else if (isDefaultSender(sender)) sender.sendWithCallback(request, end)
  else {
    sendAsync(sender, request).then(
      (observation) => end(isObservation(observation) ? observation : NO_OBSERVATION),
      (thrown: unknown) => end(ownFault(thrown instanceof Error ? thrown.name : 'the sender threw')),
    )
  }
}

function isDefaultSender(sender: Sender): sender is DefaultSender {
  return 'sendWithCallback' in sender
}

/** Turns a synchronous result or error of the sender into a promise. */
function sendAsync(sender: Sender, request: SendRequest): Promise<Observation> {
  try {
    const sending = sender.send(request)
    return sending instanceof Promise ? sending : Promise.resolve(sending)
  } catch (thrown) {
    return Promise.reject(thrown)
  }
}

const ownFault = (detail: string): Observation => ({ kind: 'own_fault', detail })

const SECRET_UNREADABLE = ownFault('the signing secret cannot be decrypted: was the service secret changed?')
const NO_OBSERVATION = ownFault('the sender returned no observation')

function isObservation(value: Observation | undefined): value is Observation {
  if (value?.kind === 'response') {
    return Number.isInteger(value.status) && Array.isArray(value.headers) && typeof value.body === 'string'
  }
  return value?.kind === 'no_response' || value?.kind === 'own_fault' || value?.kind === 'cancelled'
}

function spanAttributes(delivery: SendableDelivery, number: number) {
  return {
    'hookswitch.delivery_id': delivery.id,
    'hookswitch.event_id': delivery.eventId,
    'hookswitch.webhook_id': delivery.webhookId,
    'hookswitch.account_id': delivery.accountId,
    'hookswitch.hook': delivery.hook,
    'hookswitch.attempt': number,
  }
}

function endSpan(span: Span, { method, url }: SendRequest, observation: Observation): void {
  // Only host and port, not the URL: its query may contain a secret of the receiver.
  const { hostname, port, protocol } = new URL(url)
  const attributes = {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  }
  if (observation.kind === 'response') {
    const { status } = observation
    const failure = status >= 200 && status < 300 ? undefined : String(status)
    span.end({ 'http.response.status_code': status, ...attributes }, failure)
  } else span.end(attributes, observation.kind === 'no_response' ? observation.failure : observation.kind)
}
