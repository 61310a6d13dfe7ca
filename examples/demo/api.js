// @ts-check
/** A client of the HTTP API: exchanges an API key for a token and registers webhooks. */

/**
 * @param {string} url URL of the service
 * @param {string} method
 * @param {string} path
 * @param {object} [data]
 * @param {string} [token]
 * @returns {Promise<any>} the response body
 */
async function call(url, method, path, data, token) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { 'x-auth-token': token }),
    },
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
  })
  const result = /** @type {any} */ (await response.json())
  if (result.status !== 'success') throw new Error(`${method} ${path}: ${JSON.stringify(result.data)}`)
  return result
}

/**
 * @param {string} url URL of the service
 * @param {string} apiKey
 * @returns {Promise<string>} a token
 */
export async function logIn(url, apiKey) {
  return (await call(url, 'PUT', '/v1/api_auth', { api_key: apiKey })).auth_token
}

/**
 * A webhook with the field names of the HTTP API: http_verb, hook, retries, …
 * @typedef {{ name: string, uri: string, [field: string]: unknown }} Webhook
 */

/**
 * Registers a webhook, or updates the URL of the webhook that has the same name.
 *
 * @param {string} url URL of the service
 * @param {string} token
 * @param {string} accountId
 * @param {Webhook} webhook
 * @returns {Promise<void>}
 */
export async function ensureWebhook(url, token, accountId, webhook) {
  const webhooks = `/v1/accounts/${accountId}/webhooks`
  /** @type {{ id: string, name: string, uri: string }[]} */
  const all = (await call(url, 'GET', `${webhooks}?paginate=false`, undefined, token)).data
  const found = all.find(({ name }) => name === webhook.name)
  const { uri } = webhook
  if (!found) await call(url, 'PUT', webhooks, webhook, token)
  else if (found.uri !== uri) await call(url, 'PATCH', `${webhooks}/${found.id}`, { uri }, token)
}
