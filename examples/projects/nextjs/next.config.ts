import type { NextConfig } from 'next'

const config: NextConfig = {
  // Next.js must not bundle it: the package starts a thread and reads files that a bundle does not contain.
  serverExternalPackages: ['hookswitch'],
  // The page is at `/portal/`, which Next.js would redirect to `/portal`.
  skipTrailingSlashRedirect: true,
}

export default config
