import { type EndpointMaterial, fixedHeaders } from '../../delivery/request.js'
import { HookswitchError, invalidInput } from '../../errors.js'
import { type CompiledPolicy, compilePolicy } from '../../values/address-policy.js'
import { isId } from '../../values/ids.js'
import { VERSION } from '../../version.js'
import type { CatalogueEntry } from '../../webhooks/catalogue.js'
import { checkSettings } from '../../webhooks/settings.js'
import { secretKey } from '../../webhooks/signing-secret.js'
import { newWebhook, type Webhook, type WebhookSettings } from '../../webhooks/webhook.js'

/** The webhook whose receiver is tested: as `hs.webhooks.create` takes it, but nothing is required. */
export interface WebhookUnderTest extends Partial<WebhookSettings> {
  /** Default `webhook`. */
  readonly id?: string
  /** Default `acme`. */
  readonly accountId?: string
}

/** Nothing is resolved or dialled here: a receiver may be anywhere. */
const ANYWHERE: CompiledPolicy = compilePolicy({ allowLocal: true, allow: ['0.0.0.0/0', '::/0'] })

const fault = (field: string, message: string) =>
  new HookswitchError('InvalidOption', `scriptedDeliveries: ${field} ${message}`, { field })

/**
 * The webhook as the service would keep it, and what every request to it shares.
 *
 * @throws `InvalidOption` naming the wrong field, as in `webhook.uri`
 */
export function openWebhook(
  given: WebhookUnderTest,
  secrets: readonly string[],
  catalogue: readonly CatalogueEntry[],
): { readonly webhook: Webhook; readonly material: EndpointMaterial } {
  const { id = 'webhook', accountId = 'acme', ...wishes } = given
  if (!isId(id)) throw fault('webhook.id', 'must be 1 to 64 of A-Z a-z 0-9 _ -')
  if (!isId(accountId)) throw fault('webhook.accountId', 'must be 1 to 64 of A-Z a-z 0-9 _ -')
  const input = { name: 'Under test', uri: 'http://localhost/', hook: 'all', ...wishes }
  const checked = checkSettings(input, { catalogue, policy: ANYWHERE, defaultFormat: 'json' })
  if ('failures' in checked) {
    const { failures } = checked
    throw fault(`webhook.${failures[0]?.path}`, `does not fit: ${invalidInput(failures).message}`)
  }
  const { customRequestHeaders, ...settings } = checked.settings
  const webhook = newWebhook({ id, accountId }, { settings }, { sealed: '' }, 0)
  const names = Object.keys(customRequestHeaders ?? {})
  const material = {
    keys: secrets.map((secret, index) => ({ key: keyOf(secret, index) })),
    headers: fixedHeaders(webhook, customRequestHeaders, `hookswitch/${VERSION}`),
    isTraced: names.some((name) => name.toLowerCase() === 'traceparent'),
  }
  return { webhook, material }
}

function keyOf(secret: string, index: number): Uint8Array {
  const key = typeof secret === 'string' ? secretKey(secret) : undefined
  if (!key)
    throw fault('secret', `must be whsec_ and the base64 of 24 to 64 bytes (number ${index + 1} is not)`)
  return key
}
