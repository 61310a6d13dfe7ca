/** Builds the webhook whose handler is tested, with the service's own validation of settings. */

import type { WebhookInput } from 'hookswitch'
import type { Webhook } from 'hookswitch/store'
import { buildFixedHeaders, type EndpointSecrets } from '../../delivery/request.js'
import { invalidInput } from '../../errors.js'
import { type CompiledAddressPolicy, compileAddressPolicy } from '../../values/address-policy.js'
import { isId } from '../../values/ids.js'
import { VERSION } from '../../version.js'
import type { CatalogueEntry } from '../../webhooks/catalogue.js'
import { checkSettings } from '../../webhooks/settings.js'
import { parseSigningSecret } from '../../webhooks/signing-secret.js'
import { newWebhook } from '../../webhooks/webhook.js'
import { badOption } from '../check-options.js'

/** Settings of the webhook under test, as for `hs.webhooks.create`, all optional. */
export interface WebhookUnderTest extends Omit<WebhookInput, 'extra'> {
  /** Webhook id. Default is `webhook`. */
  readonly id?: string | undefined
  /** Account id. Default is `acme`. */
  readonly accountId?: string | undefined
}

/** Nothing is resolved or dialled here, so every address is allowed. */
const ALLOW_ALL: CompiledAddressPolicy = compileAddressPolicy({
  allowLocal: true,
  allow: ['0.0.0.0/0', '::/0'],
})

/**
 * Returns the webhook as the service would store it, and the secrets and headers of its requests.
 *
 * @throws `InvalidOption` naming the field, for example `webhook.uri`
 */
export function createWebhookUnderTest(
  options: WebhookUnderTest,
  secrets: readonly string[],
  catalogue: readonly CatalogueEntry[],
): { readonly webhook: Webhook; readonly endpointSecrets: EndpointSecrets } {
  const { id = 'webhook', accountId = 'acme', ...given } = options
  if (!isId(id)) throw badOption('scriptedDeliveries', 'webhook.id', 'must be 1 to 64 of A-Z a-z 0-9 _ -')
  if (!isId(accountId))
    throw badOption('scriptedDeliveries', 'webhook.accountId', 'must be 1 to 64 of A-Z a-z 0-9 _ -')
  const input = { name: 'Under test', uri: 'http://localhost/', hook: 'all', ...given }
  const checked = checkSettings(input, { catalogue, addressPolicy: ALLOW_ALL, defaultFormat: 'json' })
  if ('failures' in checked) {
    const { failures } = checked
    throw badOption(
      'scriptedDeliveries',
      `webhook.${failures[0]?.path}`,
      `is invalid: ${invalidInput(failures).message}`,
    )
  }
  const { customRequestHeaders, ...settings } = checked.settings
  const webhook = newWebhook({ id, accountId }, { settings }, { sealed: '' }, 0)
  const headerNames = Object.keys(customRequestHeaders ?? {})
  const endpointSecrets = {
    keys: secrets.map((secret, index) => ({ key: parseKey(secret, index) })),
    headers: buildFixedHeaders(webhook, customRequestHeaders, `hookswitch/${VERSION}`),
    isTraced: headerNames.some((name) => name.toLowerCase() === 'traceparent'),
  }
  return { webhook, endpointSecrets }
}

function parseKey(secret: string, index: number): Uint8Array {
  const key = typeof secret === 'string' ? parseSigningSecret(secret) : undefined
  if (!key)
    throw badOption(
      'scriptedDeliveries',
      'secret',
      `must be whsec_ and the base64 of 24 to 64 bytes (number ${index + 1} is not)`,
    )
  return key
}
