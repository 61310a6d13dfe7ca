import type { NextConfig } from 'next'

const config: NextConfig = {
  // Loaded from node_modules as it is: it has a thread and files of its own, which a bundle would not find.
  serverExternalPackages: ['hookswitch'],
  // The page is at `/portal/`, which Next.js would redirect to `/portal`.
  skipTrailingSlashRedirect: true,
}

export default config
