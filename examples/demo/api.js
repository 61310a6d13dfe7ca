// @ts-check
/** As a customer's own program would use the HTTP API: a token for the API key, then a webhook. */

/**
 * @param {string} url of the service
 * @param {string} method
 * @param {string} path
 * @param {object} data
 * @param {string} [token]
 * @returns {Promise<any>} the whole answer
 */
async function call(url, method, path, data, token) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { 'x-auth-token': token }),
    },
    body: JSON.stringify({ data }),
  })
  const answer = /** @type {any} */ (await response.json())
  if (answer.status !== 'success') throw new Error(`${method} ${path}: ${JSON.stringify(answer.data)}`)
  return answer
}

/**
 * @param {string} url of the service
 * @param {string} apiKey
 * @returns {Promise<string>} a token
 */
export async function logIn(url, apiKey) {
  return (await call(url, 'PUT', '/v1/api_auth', { api_key: apiKey })).auth_token
}

/**
 * @param {string} url of the service
 * @param {string} token
 * @param {string} accountId
 * @param {object} webhook the fields of the specification: name, uri, http_verb, hook, retries …
 * @returns {Promise<string>} its id
 */
export async function registerWebhook(url, token, accountId, webhook) {
  return (await call(url, 'PUT', `/v1/accounts/${accountId}/webhooks`, webhook, token)).data.id
}
