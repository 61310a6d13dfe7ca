// @ts-check
/** The shell commands that the demo prints. */
import { createHash } from 'node:crypto'

/** A sed command that extracts the value of a key from a one-line JSON response. */
const extract = (/** @type {string} */ key) => `sed 's/.*[{,]"${key}":"\\([^"]*\\)".*/\\1/'`

/**
 * Returns shell commands that a user can paste to try the API.
 *
 * @param {string} url URL of the service
 * @param {string} receiverUrl
 * @param {{ id: string, realm: string, apiKey: string, users: { username: string, password: string }[] }} account
 */
export function hints(url, receiverUrl, account) {
  const [user] = account.users
  const credentials = createHash('md5').update(`${user?.username}:${user?.password}`).digest('hex')
  const json = "-H 'Content-Type: application/json'"
  const webhooks = `${url}/v1/accounts/${account.id}/webhooks`
  const withToken = '-H "X-Auth-Token: $TOKEN"'
  return `Open ${url}/portal in a browser and sign in with the API key of ${account.id}, or as ${user?.username} with the
password ${user?.password} and the realm ${account.realm}:

  ${account.apiKey}

Or try the API in another terminal. Log in with the API key of ${account.id}, or as ${user?.username} (md5 of name:password):

  TOKEN=$(curl -s -X PUT ${url}/v1/api_auth ${json} -d '{"data":{"api_key":"${account.apiKey}"}}' | ${extract('auth_token')})
  TOKEN=$(curl -s -X PUT ${url}/v1/user_auth ${json} -d '{"data":{"credentials":"${credentials}","account_realm":"${account.realm}"}}' | ${extract('auth_token')})

Register a webhook, send it a test event, and list its attempts:

  HOOK=$(curl -s -X PUT ${webhooks} ${withToken} ${json} -d '{"data":{"name":"mine","uri":"${receiverUrl}/mine","http_verb":"post","hook":"channel_create","retries":2}}' | ${extract('id')})
  curl -s -X PUT ${webhooks}/$HOOK/test ${withToken}; echo
  curl -s ${webhooks}/$HOOK/attempts ${withToken} -H 'X-Pretty-Print: true'; echo
`
}
