import { describe, expect, it } from 'vitest'
import { isSecretHeader, isSecretName } from '../../src/values/secret-names.js'

describe('isSecretName', () => {
  it.each([
    ...['authorization', 'Authorization', 'Proxy-Authorization', 'proxyAuth', 'auth', 'cookie', 'set-cookie'],
    ...['token', 'tokens', 'authToken', 'auth_token', 'X-Auth-Token', 'accessToken', 'tokenHash', 'jwt'],
    ...[
      'apiKey',
      'api_key',
      'APIKey',
      'api-key',
      'x-api-key',
      'key',
      'keys',
      'privateKey',
      'secret_access_key',
    ],
    ...['password', 'passwd', 'passphrase', 'oldPassword', 'PASSWORD', 'passwordHash'],
    ...[
      'credentials',
      'credential',
      'secret',
      'secrets',
      'clientSecret',
      'HOOKSWITCH_SECRET',
      'signingSecret',
    ],
    ...['X-Pwd', 'pwd', 'user_pin', 'otp', 'sessionId', 'session_key', 'bearer', 'X-Api-Pass', 'jwtValue'],
    ...['webhook-signature', 'signature', 'md5', 'sha', 'sha1', 'digest'],
  ])('is true for %s', (name) => {
    expect(isSecretName(name)).toBe(true)
  })

  it.each([
    ...[
      'reason',
      'event',
      'deliveryId',
      'deliveries',
      'requestId',
      'operation',
      'url',
      'adminUrl',
      'accounts',
    ],
    ...['tokenTtlSeconds', 'credentialVersion', 'tokenCacheSize', 'idempotencyKey', 'author', 'message', ''],
    ...['session', 'ping', 'spinning', 'compass', 'sidebar', 'passed', 'hmacs_per_second', 'pinned'],
  ])('is false for %j', (name) => {
    expect(isSecretName(name)).toBe(false)
  })
})

describe('isSecretHeader', () => {
  it.each([
    ...[
      'Authorization',
      'Proxy-Authorization',
      'X-API-KEY',
      'ApiKey',
      'X-Functions-Key',
      'cookie',
      'Set-Cookie2',
    ],
    ...[
      'X-Auth-Token',
      'x-auth',
      'X-Auth-User',
      'X-Token-2',
      'X-CSRF-Token',
      'Idempotency-Key',
      'webhook-signature',
    ],
    ...['X-Jwt', 'x-jwt-assertion', 'X-Credential', 'X-Credentials-V2', 'Cred', 'X-Bearer', 'bearer'],
    ...[
      'X-Password',
      'X-Passwd',
      'X-Pwd',
      'X-User-Pwd-1',
      'X-Passphrase',
      'X-Pass-Phrase',
      'x-passcode',
      'Pass',
    ],
    ...[
      'X-Session-Id',
      'SessionId',
      'X-Session',
      'sid',
      'X-Pin',
      'x-user-pin',
      'X-Api-Pass',
      'X-Otp',
      'X-Totp-Code',
    ],
    ...['X-Access', 'X-Login', 'x-user-login'],
    ...['x-client-secret', 'X-Secrets', 'X-Hub-Signature-256', 'X-Hmac'],
  ])('is true for %s', (name) => {
    expect(isSecretHeader(name)).toBe(true)
  })

  it.each([
    ...[
      'content-type',
      'x-hook-id',
      'Date',
      'Server',
      'X-Request-Id',
      'Retry-After',
      'Location',
      'Digest',
      '',
    ],
    ...['Access-Control-Allow-Origin', 'X-Login-Url', 'X-Accessed', 'Content-Location'],
    ...['X-Ping', 'X-Shipping', 'X-Compass', 'X-Passed', 'X-Side', 'X-Ratelimit-Remaining', 'X-Otphone'],
  ])('is false for %j', (name) => {
    expect(isSecretHeader(name)).toBe(false)
  })

  it('is true for every name that a log would hide as a password, token or credential', () => {
    for (const name of [
      'password',
      'accessToken',
      'credentials',
      'jwt',
      'bearer',
      'pin',
      'pwd',
      'sessionId',
      'apiKey',
    ]) {
      expect([isSecretName(name), isSecretHeader(name)]).toEqual([true, true])
    }
  })
})
