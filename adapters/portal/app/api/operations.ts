/**
 * Takes the place of `adapters/client/operations.generated` in the build of the page, which requests by path: only the
 * operations that the client itself needs.
 */
export const ENDPOINTS = {
  signInByApiKey: { method: 'PUT', path: '/api_auth', isOpen: true },
  signInByCredentials: { method: 'PUT', path: '/user_auth', isOpen: true },
  signOut: { method: 'DELETE', path: '/token_auth', hasNoParameters: true },
} as const
