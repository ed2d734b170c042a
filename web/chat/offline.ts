// The site's files are kept by a service worker, so that its pages open without a network.
import { siteUrl } from './models.ts';

export function keepSite(): void {
  // The development server has none; in a page that is not secure the browser has none.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  navigator.serviceWorker.register(siteUrl('service_worker.js')).catch((error: unknown) => {
    console.warn('The page will need a network next time:', error);
  });
}
