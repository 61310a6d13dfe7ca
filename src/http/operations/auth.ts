import type { SignInInput } from '../../auth/sign-in.js'
import { invalidInput } from '../../errors.js'
import { type SchemaCheck, toFailures } from '../../values/schema-failures.js'
import { apiKeyDoc, loginDoc, readApiAuth, readUserAuth, SECRET_LOGIN_FIELDS } from '../../wire/auth-doc.js'
import { validateApiAuth, validateUserAuth } from '../../wire/validators.generated.js'
import { type Answer, accountOf, type Call, type Perform } from './call.js'

async function signIn(call: Call, check: SchemaCheck, read: (data: unknown) => SignInInput): Promise<Answer> {
  if (!check(call.data)) {
    throw invalidInput(toFailures(check.errors, call.data, { secret: SECRET_LOGIN_FIELDS }))
  }
  const from = call.address === undefined ? {} : { address: call.address }
  const { token, account, userId } = await call.service.auth.signIn(read(call.data), from)
  return { data: loginDoc(account, userId), issued: token }
}

export const signInByApiKey: Perform = (call) => signIn(call, validateApiAuth, readApiAuth)
export const signInByCredentials: Perform = (call) => signIn(call, validateUserAuth, readUserAuth)

export const signOut: Perform = async ({ service, caller }) => {
  await service.auth.signOut(caller!.token)
  return { data: {} }
}

export const readApiKey: Perform = async (call) => ({
  data: apiKeyDoc(await call.service.accounts.readApiKey(accountOf(call))),
})

export const rotateApiKey: Perform = async (call) => ({
  data: apiKeyDoc(await call.service.accounts.rotateApiKey(accountOf(call))),
})
