// @ts-check
import { createHash } from 'node:crypto'

/** The value of a key in a one-line JSON answer, without asking for more than a shell. */
const pick = (/** @type {string} */ key) => `sed 's/.*[{,]"${key}":"\\([^"]*\\)".*/\\1/'`

/**
 * Shell commands for a first look, ready to be pasted.
 *
 * @param {string} url of the service
 * @param {string} receiverUrl
 * @param {{ id: string, realm: string, apiKey: string, users: { username: string, password: string }[] }} account
 */
export function hints(url, receiverUrl, account) {
  const [user] = account.users
  const credentials = createHash('md5').update(`${user?.username}:${user?.password}`).digest('hex')
  const json = "-H 'Content-Type: application/json'"
  const webhooks = `${url}/v1/accounts/${account.id}/webhooks`
  const withToken = '-H "X-Auth-Token: $TOKEN"'
  return `Try it in another terminal. Log in, with the API key of ${account.id} or as ${user?.username} (the md5 of name:password):

  TOKEN=$(curl -s -X PUT ${url}/v1/api_auth ${json} -d '{"data":{"api_key":"${account.apiKey}"}}' | ${pick('auth_token')})
  TOKEN=$(curl -s -X PUT ${url}/v1/user_auth ${json} -d '{"data":{"credentials":"${credentials}","account_realm":"${account.realm}"}}' | ${pick('auth_token')})

Register a webhook of your own, send it a sample, and see its attempts:

  HOOK=$(curl -s -X PUT ${webhooks} ${withToken} ${json} -d '{"data":{"name":"mine","uri":"${receiverUrl}/mine","http_verb":"post","hook":"channel_create","retries":2}}' | ${pick('id')})
  curl -s -X PUT ${webhooks}/$HOOK/test ${withToken}; echo
  curl -s ${webhooks}/$HOOK/attempts ${withToken} -H 'X-Pretty-Print: true'; echo
`
}
