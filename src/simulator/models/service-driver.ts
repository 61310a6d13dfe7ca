/** Executes the calls of the service model on a real service, and reduces the results to the form of the reference. */

import { errorCode } from '../../errors.js'
import type { Hookswitch } from '../../hookswitch.js'
import { md5 } from '../../values/hash.js'
import { type Behaviour, RETRIES, type ServiceCall } from './service-calls.js'

/** What the driver remembers between calls: ids and secrets, by their names in the trace. */
export interface ServiceDriverState {
  readonly keys: Record<string, string[]>
  readonly passwords: Record<string, number>
  readonly tokens: string[]
  readonly webhooks: Record<string, { id: string; account: string; behaviour: Behaviour }>
  /** Names of events by id. */
  readonly events: Map<string, string>
}

export const USER = 'ada'
export const passwordOf = (account: string, number: number) => `password ${number} of ${account}`

/** Executes a call. An expected error is a result: its code. */
export async function executeOnService(
  hs: Hookswitch,
  call: ServiceCall,
  state: ServiceDriverState,
): Promise<unknown> {
  try {
    return (await executeCall(hs, call, state)) ?? null
  } catch (thrown) {
    const code = errorCode(thrown)
    if (code === undefined) throw thrown
    return code
  }
}

async function executeCall(hs: Hookswitch, call: ServiceCall, state: ServiceDriverState): Promise<unknown> {
  const { keys, passwords, tokens, webhooks, events } = state
  switch (call.do) {
    case 'sign in': {
      const { account, by, isValid } = call
      const accountKeys = keys[account]!
      const apiKey = isValid ? accountKeys.at(-1)! : (accountKeys.at(-2) ?? 'n'.repeat(64))
      const password = passwordOf(account, (passwords[account] ?? 0) - (isValid ? 0 : 1))
      const credentials = md5(`${USER}:${password}`)
      const login = by === 'key' ? { apiKey } : { credentials, realm: `${account}.example.com` }
      tokens.push((await hs.auth.signIn(login)).token)
      return `token ${tokens.length}`
    }
    case 'use': {
      const { accountId, userId } = await hs.auth.authenticate(tokenOf(tokens, call.token))
      return `${accountId}, by ${userId === undefined ? 'key' : 'password'}`
    }
    case 'sign out':
      return hs.auth.signOut(tokenOf(tokens, call.token))
    case 'rotate the key':
      keys[call.account]!.push(await hs.accounts.rotateApiKey(call.account))
      return null
    case 'set the password': {
      const number = (passwords[call.account] ?? 0) + 1
      await hs.accounts.setPassword(call.account, USER, passwordOf(call.account, number))
      passwords[call.account] = number
      return null
    }
    case 'enable':
      await hs.accounts.update(call.account, { enabled: call.enabled })
      return null
    case 'create': {
      const { webhook, account, hook, includeSubaccounts } = call
      const uri = `https://receiver.example.com/${webhook}`
      const input = { name: webhook, uri, hook, includeSubaccounts, retries: RETRIES }
      const { id, revision } = await hs.webhooks.create(account, input)
      webhooks[webhook] = { id, account, behaviour: 'succeeds' }
      return `revision ${revision}`
    }
    case 'patch':
    case 'remove': {
      const { id, account } = webhooks[call.webhook]!
      const onlyIf = call.revision === undefined ? {} : { revision: call.revision }
      const changed =
        call.do === 'patch'
          ? await hs.webhooks.patch(account, id, call.change, onlyIf)
          : await hs.webhooks.remove(account, id, onlyIf)
      return `revision ${changed.revision - (call.do === 'remove' ? 1 : 0)}`
    }
    case 'list': {
      const names = new Map(Object.entries(webhooks).map(([name, { id }]) => [id, name]))
      const list = await hs.webhooks.list(call.account)
      return list.map(({ id, name, enabled, revision }) => ({ id: names.get(id), name, enabled, revision }))
    }
    case 'publish': {
      const { account, call: callId, hook, key, event } = call
      const input = { hook, accountId: account, callId }
      const published = await hs.publish(input, key === undefined ? {} : { idempotencyKey: key })
      if (!published.duplicate) events.set(published.eventId, event)
      const { eventId, sequence: number, duplicate } = published
      return { id: events.get(eventId), number, duplicate }
    }
    case 'change receiver':
      webhooks[call.webhook]!.behaviour = call.behaviour
      return null
  }
}

const tokenOf = (tokens: readonly string[], name: string) => tokens[Number(name.slice('token '.length)) - 1]!
