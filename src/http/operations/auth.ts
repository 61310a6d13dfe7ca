/** Sign in, sign out, read and rotate the API key. */
import { issueToken as issue } from '../../auth/issue-token.js'
import { type SignInInput, signIn as signInWith } from '../../auth/sign-in.js'
import { signOut as signOutWith } from '../../auth/sign-out.js'
import { HookswitchError, invalidInput } from '../../errors.js'
import { type SchemaValidator, toSchemaFailures } from '../../values/schema-failures.js'
import { validateApiAuth, validateUserAuth } from '../../values/validators.generated.js'
import {
  apiKeyJson,
  issuedTokenJson,
  loginJson,
  parseApiKeyLogin,
  parseCredentialsLogin,
  parseTokenRequest,
  SECRET_LOGIN_FIELDS,
  tokenJson,
  toTokenFailure,
} from '../../wire/auth-json.js'
import {
  accountIdOf,
  callerRights,
  type Operation,
  type OperationContext,
  type OperationResult,
  translateFailures,
} from './context.js'

async function signIn(
  context: OperationContext,
  validate: SchemaValidator,
  parse: (data: unknown) => SignInInput,
): Promise<OperationResult> {
  const { data, clientAddress, deps } = context
  if (!validate(data)) {
    throw invalidInput(toSchemaFailures(validate.errors, data, { secret: SECRET_LOGIN_FIELDS }))
  }
  const from = clientAddress === undefined ? {} : { address: clientAddress }
  const { token, account, userId } = await signInWith(deps.core().auth, parse(data), from)
  const [, ...ancestors] = await deps.core().auth.lineages.lineage(account.id)
  return {
    data: loginJson(account, userId, ancestors),
    issuedToken: token,
    audit: () => ({ accountId: account.id, userId }),
  }
}

export const signInByApiKey: Operation = (context) => signIn(context, validateApiAuth, parseApiKeyLogin)
export const signInByCredentials: Operation = (context) =>
  signIn(context, validateUserAuth, parseCredentialsLogin)

export const readToken: Operation = async (context) => {
  const { caller, deps } = context
  const [account, ...ancestors] = await deps.core().auth.lineages.lineage(caller!.accountId)
  // Removed since the token was checked.
  if (!account) throw new HookswitchError('InvalidCredentials', 'invalid credentials')
  return { data: tokenJson([account, ...ancestors], caller!, callerRights(context)) }
}

export const signOut: Operation = async ({ deps, caller }) => {
  await signOutWith(deps.core().auth, caller!.token)
  return { data: {} }
}

export const issueToken: Operation = async ({ data, deps }) => {
  const request = parseTokenRequest(data)
  const issued = await translateFailures(issue(deps.core().auth, request), toTokenFailure)
  const { accountId, userId, role, ttlSeconds } = request
  return {
    data: issuedTokenJson(issued, request),
    audit: () => ({ accountId, userId, details: { role, ttlSeconds } }),
  }
}

export const readApiKey: Operation = async (context) => ({
  data: apiKeyJson(await context.deps.core().accounts.readApiKey(accountIdOf(context))),
})

export const rotateApiKey: Operation = async (context) => ({
  data: apiKeyJson(await context.deps.core().accounts.rotateApiKey(accountIdOf(context))),
})
